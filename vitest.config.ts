import { defineConfig } from 'vitest/config'

const slow = { testTimeout: 120_000, hookTimeout: 120_000, fileParallelism: false }

/** `unit` is the everyday part; the others start processes. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts', 'test/{architecture,integration,simulation}/**/*.test.ts'] } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts', 'test/store-*.test.ts'], ...slow } },
      { test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], ...slow } },
    ],
  },
})
