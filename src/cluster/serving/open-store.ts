import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from '../../base/logger.ts'
import { type Store, openEtcdStore, openLmdbStore, openMemoryStore } from '../../store/index.ts'

/** The values of --store. */
export type StoreDriver = 'lmdb' | 'memory' | 'etcd'

/** kube-apiserver's --etcd-* flags. */
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

/** Opens the store of the flags. */
export function openStore({ store, etcd, dataDir, logger }: StoreOptions): Promise<Store> | Store {
  if (store === 'memory') return openMemoryStore()
  if (store === 'etcd') return openEtcd(etcd, logger)
  const dir = path.join(dataDir, 'db')
  return openLmdbStore({ dir, onConverted: () => logger.info('converted data of an older release', { dir }) })
}

function openEtcd(flags: EtcdFlags | undefined, logger: Logger): Promise<Store> {
  if (!flags) throw new Error('--etcd-servers must be specified')
  const { servers, prefix } = flags
  // Fails at once if a flag is wrong.
  readEtcdTls(flags)
  return openEtcdStore({
    servers,
    tls: () => readEtcdTls(flags),
    prefix: { ours: '/registry', theirs: prefix },
    logger,
  })
}

/** Reads the TLS files for etcd. Throws an error that names the invalid flag. */
export const readEtcdTls = ({ caFile, certFile, keyFile }: EtcdFlags) => ({
  ca: read('--etcd-cafile', caFile),
  cert: read('--etcd-certfile', certFile),
  key: read('--etcd-keyfile', keyFile),
})

function read(flag: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (e) {
    throw new Error(`${flag}: ${(e as Error).message}`, { cause: e })
  }
}

/** Runs `work` with an open store, and closes the store. */
export async function withStore<T>(options: StoreOptions, work: (store: Store) => Promise<T>): Promise<T> {
  if (options.store === 'memory') throw new Error('--store memory: the memory store ends with its process')
  const store = await openStore(options)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
