import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from '../base/logger.ts'
import { type Store, openEtcdStore, openLmdbStore, openMemoryStore } from '../store/index.ts'

/** Where objects are stored: --store. */
export type StoreDriver = 'lmdb' | 'memory' | 'etcd'

/** The flags --etcd-… of kube-apiserver. */
export interface EtcdFlags {
  servers: readonly string[]
  caFile: string | undefined
  certFile: string | undefined
  keyFile: string | undefined
  prefix: string
}

export interface StoreOptions {
  store: StoreDriver
  etcd?: EtcdFlags | undefined
  dataDir: string
  logger: Logger
}

/** Opens the store that the flags name. */
export function openStore({ store, etcd, dataDir, logger }: StoreOptions): Promise<Store> | Store {
  if (store === 'memory') return openMemoryStore()
  if (store === 'etcd') return openEtcd(etcd)
  const dir = path.join(dataDir, 'db')
  return openLmdbStore({ dir, onConverted: () => logger.info('data of an older release was converted', { dir }) })
}

function openEtcd(flags: EtcdFlags | undefined): Promise<Store> {
  if (!flags) throw new Error('--etcd-servers must be specified')
  const { servers, caFile, certFile, keyFile, prefix } = flags
  const tls = { ca: read('--etcd-cafile', caFile), cert: read('--etcd-certfile', certFile), key: read('--etcd-keyfile', keyFile) }
  return openEtcdStore({ servers, tls, prefix: { ours: '/registry', theirs: prefix } })
}

function read(flag: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (e) {
    throw new Error(`${flag}: ${(e as Error).message}`, { cause: e })
  }
}

/** Opens a store for one piece of work. */
export async function withStore<T>(options: StoreOptions, work: (store: Store) => Promise<T>): Promise<T> {
  if (options.store === 'memory') throw new Error('--store memory: what is in memory ends with its process')
  const store = await openStore(options)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
