import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Logger } from '../src/base/logger.ts'
import { restoreInto, takeBackup } from '../src/cluster/index.ts'
import { loadClusterKeys } from '../src/cluster/keys/cluster-keys.ts'
import { type Store, openEtcdStore, openLmdbStore } from '../src/store/index.ts'
import { FakeEtcd } from './etcd/fake-etcd.ts'

const now = Date.UTC(2026, 0, 1)
const sharedKey = '/registry/coxswain.io/cluster-keys'
let dir: string
let file: string
const cleanups: (() => Promise<unknown>)[] = []

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'etcd-backup-'))
  file = path.join(dir, 'backup')
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  rmSync(dir, { recursive: true })
})

interface Cluster {
  etcd: FakeEtcd
  store: Store
  /** The flags of a server with this data directory. */
  flags(dataDir: string): Parameters<typeof takeBackup>[0]
}

async function startEtcd(): Promise<Cluster> {
  const etcd = new FakeEtcd({ version: '3.5.13' })
  const url = await etcd.listen()
  cleanups.push(() => etcd.close())
  const store = await openEtcdStore({ servers: [url] })
  cleanups.push(() => store.close())
  const flags = { servers: [url], caFile: undefined, certFile: undefined, keyFile: undefined, prefix: '/registry' }
  return { etcd, store, flags: (dataDir) => ({ store: 'etcd', etcd: flags, dataDir: path.join(dir, dataDir), logger: new Logger(() => {}) }) }
}

/** An etcd with the objects of a cluster, and the keys of the cluster in a data directory and in etcd. */
async function startCluster(dataDir = 'a') {
  const cluster = await startEtcd()
  for (let i = 0; i < 300; i++) await cluster.store.write({ key: `/registry/pods/ns/${i}`, expected: 0, value: Buffer.from(`pod ${i}`), mark: i + 1 })
  const keys = await loadClusterKeys(cluster.store, path.join(dir, dataDir), now)
  return { ...cluster, keys }
}

const contents = async (store: Store) => (await store.range('')).items.map(({ key, value, mark }) => [key, value.toString(), mark])
const keysIn = (backup: string): unknown => JSON.parse(readFileSync(backup, 'utf8').split('\n')[0]!).keys

describe('a backup of etcd', () => {
  it('is restored into another etcd as it was', async () => {
    const from = await startCluster()
    expect((await takeBackup(from.flags('a'), file, now)).items).toBe(301)
    const to = await startEtcd()
    expect((await restoreInto(to.flags('b'), file)).items).toBe(301)
    expect(await contents(to.store)).toEqual(await contents(from.store))
    for (const dataDir of ['b', 'c']) expect(await loadClusterKeys(to.store, path.join(dir, dataDir), now)).toEqual(from.keys)
  })

  it('has the keys of the store, also where the data directory has none', async () => {
    const { flags, keys } = await startCluster()
    await takeBackup(flags('elsewhere'), file, now)
    expect(keysIn(file)).toEqual(keys)
  })

  it('is refused in the data directory of another cluster', async () => {
    const [one] = [await startCluster('a'), await startCluster('b')]
    await expect(takeBackup(one.flags('b'), file, now)).rejects.toThrow(`--data-dir: the keys in ${path.join(dir, 'b', 'pki')} belong to another cluster than the store`)
  })
})

describe('a restore into etcd', () => {
  it('stores the keys of a cluster that had them in files only, so that any machine may start first', async () => {
    const lmdb = { store: 'lmdb' as const, dataDir: path.join(dir, 'a'), logger: new Logger(() => {}) }
    const store = await openLmdbStore({ dir: path.join(lmdb.dataDir, 'db') })
    const keys = await loadClusterKeys(store, lmdb.dataDir, now)
    await store.write({ key: '/registry/pods/ns/a', expected: 0, value: Buffer.from('x') })
    await store.close()
    await takeBackup(lmdb, file, now)
    const to = await startEtcd()
    await restoreInto(to.flags('b'), file)
    expect(await loadClusterKeys(to.store, path.join(dir, 'another machine'), now)).toEqual(keys)
  })

  it('fails if another process writes to the store meanwhile', async () => {
    const from = await startCluster()
    await takeBackup(from.flags('a'), file, now)
    const to = await startEtcd()
    await to.store.watch('/registry/', to.store.revision, (events) => {
      if (events.some(({ key }) => key === '/registry/pods/ns/0')) to.etcd.put('/registry/leases/another', '{}')
    })
    await expect(restoreInto(to.flags('b'), file)).rejects.toThrow('/registry/leases/another is not in the backup: another process writes to the store')
    expect(await to.store.get(sharedKey)).toBeDefined()
  })
})
