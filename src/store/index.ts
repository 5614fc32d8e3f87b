export {
  CommitFailedError,
  CompactedError,
  FutureRevisionError,
  StoreOpenError,
  StoreUnavailableError,
  ValueTooLargeError,
  WriteUncertainError,
} from './store.ts'
export { loadAll, pagesOf } from './store.ts'
export type {
  Page,
  RangeOptions,
  RangeResult,
  Store,
  StoreEvent,
  Versioned,
  Watch,
  Write,
  WriteResult,
} from './store.ts'
export { openMemoryStore } from './drivers/memory.ts'
export { directoryOwner, ownDataDirectory } from './drivers/directory-lock.ts'
export { openEtcdStore } from './drivers/etcd/etcd.ts'
export { probeEtcd } from './drivers/etcd/probe.ts'
export type { EtcdMemberState } from './drivers/etcd/probe.ts'
export { openLmdbStore } from './drivers/lmdb.ts'
export { openLmdbSnapshot } from './drivers/lmdb-snapshot.ts'
export { snapshotOf } from './snapshot.ts'
export type { Snapshot, SnapshotItem } from './snapshot.ts'
export { startCompactor } from './compactor.ts'
