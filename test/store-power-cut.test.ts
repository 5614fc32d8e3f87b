import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Pod } from '../src/api/generated/types.ts'
import { silentLogger } from '../src/base/logger.ts'
import { replaceFile } from '../src/base/durable-files.ts'
import { loadClusterKeys } from '../src/cluster/keys/cluster-keys.ts'
import { keepBundle, keptBundle } from '../src/cluster/keys/server-bundle.ts'
import { restoreInto, writeBackup } from '../src/cluster/tools/backup.ts'
import { readBackupFile } from '../src/cluster/tools/backup-file.ts'
import { SnapshotFile } from '../src/monitor/snapshot/snapshots.ts'
import { PodUsers } from '../src/node/runtime/pod-users.ts'
import { openLmdbStore, openMemoryStore, snapshotOf } from '../src/store/index.ts'
import { LoopDisk } from './loop-disk.ts'

const problem = LoopDisk.problem()
if (problem) console.warn(`the tests with a disk of their own are left out: ${problem}`)

const now = Date.UTC(2026, 0, 1)
const pod: Pod = { metadata: { uid: 'u', name: 'p', namespace: 'n' }, spec: { containers: [] }, status: {} }
const bundle = { etcd: { servers: ['https://10.0.0.1:2379'], prefix: '/registry', ca: 'a', certificate: 'b', key: 'c' }, encryption: undefined, tokenIssuers: [] }

async function filled() {
  const store = openMemoryStore()
  await store.write({ key: '/registry/pods/n/p', expected: 0, value: Buffer.from('x') })
  return store
}

/** Writes something into a directory, and reads it again. */
interface Written {
  what: string
  write(dir: string): unknown
  read(dir: string): unknown
}

const all: Written[] = [
  {
    what: 'the keys of a cluster',
    write: (dir) => loadClusterKeys(openMemoryStore(), join(dir, 'data'), now),
    // Other keys would be made if these were lost.
    read: (dir) => loadClusterKeys(openMemoryStore(), join(dir, 'data'), now),
  },
  {
    what: 'the settings of a joined server',
    write: (dir) => (keepBundle(join(dir, 'data'), bundle), { etcd: bundle.etcd, tokenIssuers: [] }),
    read: (dir) => keptBundle(join(dir, 'data')),
  },
  {
    what: 'a backup',
    write: async (dir) => (await writeBackup(await snapshotOf(await filled()), dir, join(dir, 'backup'), now)).items,
    read: async (dir) => (await readBackupFile(join(dir, 'backup'))).tail.items,
  },
  {
    what: 'a restored store',
    write: async (dir) => {
      const file = join(dir, 'backup')
      await writeBackup(await snapshotOf(await filled()), dir, file, now)
      return (await restoreInto({ store: 'lmdb', dataDir: join(dir, 'data'), logger: silentLogger }, file)).items
    },
    read: async (dir) => {
      if (!existsSync(join(dir, 'data/db/data.mdb'))) return 'no store'
      const store = await openLmdbStore({ dir: join(dir, 'data/db') })
      const { items } = await store.range('')
      await store.close()
      return items.length
    },
  },
  {
    what: "the monitor's snapshot",
    write: async (dir) => {
      await new SnapshotFile(join(dir, 'monitor/snapshot')).write('text')
      return 'text'
    },
    read: (dir) => new SnapshotFile(join(dir, 'monitor/snapshot')).read(),
  },
  {
    what: 'the users of pods',
    write: (dir) => new PodUsers(join(dir, 'users.json'), async () => true).of(pod),
    read: (dir) => (JSON.parse(readFileSync(join(dir, 'users.json'), 'utf8')) as { users: object }).users['pod u' as keyof object],
  },
  {
    what: 'a file that replaces another',
    write: (dir) => {
      for (const text of ['one', 'two']) replaceFile(join(dir, 'f'), text)
      return 'two'
    },
    read: (dir) => readFileSync(join(dir, 'f'), 'utf8'),
  },
]

describe.skipIf(problem)('after a power failure', () => {
  let disk: LoopDisk
  beforeEach(() => {
    disk = LoopDisk.make(64)
  })
  afterEach(() => disk.remove())

  it.each(all)('$what is there', async ({ write, read }) => {
    const written = await write(disk.path)
    disk.cutPower()
    disk.restart()
    expect(await read(disk.path)).toEqual(written)
  })
})
