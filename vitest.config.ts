import path from 'node:path'
import { defineConfig } from 'vitest/config'

/** Examples import what is public by its public name. */
const alias = {
  'coxswain/client': path.resolve(import.meta.dirname, 'src/client/index.ts'),
  'coxswain/controllers': path.resolve(import.meta.dirname, 'src/controllers/index.ts'),
  'coxswain/testing': path.resolve(import.meta.dirname, 'src/cluster/testing.ts'),
}

const slow = { testTimeout: 120_000, hookTimeout: 120_000, fileParallelism: false }

/** `unit` is the everyday part; the others start processes. */
export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        // Files share their modules: to load them for each anew took longer than the tests.
        test: { name: 'unit', isolate: false, include: ['src/**/*.test.ts', 'test/{architecture,integration,simulation}/**/*.test.ts', '{bench,examples,web}/**/*.test.ts'] },
      },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts', 'test/store-*.test.ts'], ...slow } },
      { test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], ...slow } },
    ],
  },
})
