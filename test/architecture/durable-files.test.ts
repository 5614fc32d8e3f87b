import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const src = path.resolve(import.meta.dirname, '../../src')

/** Files that rename without a sync, and the reason why a power failure does no harm there. */
const exceptions: Readonly<Record<string, string>> = {
  'monitor/snapshot/snapshots.ts': 'moves an unusable file away',
  'node/runtime/write-whole.ts': 'state that ends with the processes of the machine',
  'node/runtimes/cri/log-rotation.ts': 'logs of containers',
  'node/runtimes/process/shim-client.ts': 'a program that each start copies again',
  'node/runtimes/process/shim/log-file.ts': 'logs of containers',
  'node/volumes/disk.ts': 'files of pods, made anew after a restart',
  'server/audit/log-file.ts': 'a full log, which has its own name from then on',
}

it('files are renamed by base/durable-files.ts, or for a reason', () => {
  const renaming = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'base/durable-files.ts')
    .filter((file) => /import \{[^}]*\brename(Sync)?\b[^}]*\} from 'node:fs(\/promises)?'/.test(readFileSync(path.join(src, file), 'utf8')))
  expect(renaming.sort()).toEqual(Object.keys(exceptions))
})
