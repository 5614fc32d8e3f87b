import path from 'node:path'
import { defineConfig } from 'vitest/config'

/** Examples import what is public by its public name. */
const alias = {
  'coxswain/client': path.resolve(import.meta.dirname, 'src/client/index.ts'),
  'coxswain/controllers': path.resolve(import.meta.dirname, 'src/controllers/index.ts'),
  'coxswain/testing': path.resolve(import.meta.dirname, 'src/cluster/testing.ts'),
}

const slow = { testTimeout: 120_000, hookTimeout: 120_000, fileParallelism: false }

/**
 * What runs on etcd, too: everything where COXSWAIN_ETCD=all, as `npm run test:etcd` has it, or the files that say most
 * in a minute.
 */
const onEtcd = process.env['COXSWAIN_ETCD'] === 'all'
  ? ['test/e2e/**/*.test.ts', 'test/conformance/**/*.test.ts']
  : ['deployments', 'quota', 'reading', 'rollouts', 'statefulsets', 'watching', 'writing'].map((name) => `test/e2e/${name}.test.ts`)
const sharedEtcd = { globalSetup: ['test/etcd/global-setup.ts'], setupFiles: ['test/etcd/use-shared-etcd.ts'] }

/**
 * `unit` is the everyday part; the others start processes. `etcd` is part of `e2e` and `conformance` once more, with
 * servers that store in etcd.
 */
export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        // Files share their modules: to load them for each anew took longer than the tests.
        // The limit is for tests that hang, on a machine of any speed.
        test: { name: 'unit', isolate: false, testTimeout: 60_000, hookTimeout: 60_000, include: ['src/**/*.test.ts', 'test/{architecture,integration,kubectl,simulation}/**/*.test.ts', '{bench,examples,web}/**/*.test.ts'] },
      },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts', 'test/store-*.test.ts'], ...slow } },
      { test: { name: 'etcd', include: onEtcd, ...sharedEtcd, ...slow } },
      // Started by scripts/test-cri.mjs, which makes the namespaces that they need.
      { test: { name: 'cri', include: ['test/cri/**/*.test.ts', 'test/e2e/{pod-life,sandbox-condition,services,streams}.test.ts'], globalSetup: 'test/cri/global-setup.ts', ...slow } },
      { test: { name: 'conformance', include: ['test/conformance/**/*.test.ts'], ...slow } },
    ],
  },
})
