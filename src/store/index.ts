export {
  CommitFailedError, CompactedError, FutureRevisionError, StoreClosedError, StoreOpenError, StoreUnavailableError, ValueTooLargeError,
  WriteUncertainError,
} from './store.ts'
export type { RangeOptions, RangeResult, Store, StoreEvent, Versioned, Watch, Write, WriteResult } from './store.ts'
export { openMemoryStore } from './drivers/memory.ts'
export type { MemoryStoreOptions } from './drivers/memory.ts'
export { ownDataDirectory } from './drivers/directory-lock.ts'
export { openEtcdStore } from './drivers/etcd/etcd.ts'
export type { EtcdStoreOptions } from './drivers/etcd/etcd.ts'
export { openLmdbStore } from './drivers/lmdb.ts'
export type { LmdbStoreOptions } from './drivers/lmdb.ts'
export { chooseCompaction, startCompactor } from './compactor.ts'
export type { CompactorOptions } from './compactor.ts'
