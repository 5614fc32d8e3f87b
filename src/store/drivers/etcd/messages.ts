import { loadedBytes } from '../../../base/kept-bytes.ts'
import {
  type MessageOf,
  bool,
  bytes,
  int,
  int64,
  message,
  nested,
  optional,
  repeated,
  string,
  uint64,
} from '../../../grpc/index.ts'

// The parts of etcd's API (api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto) that the driver uses.

const Nothing = message({})
const Header = message({ clusterId: uint64(1), memberId: uint64(2), revision: int(3) })
const versions = { createRevision: int(2), modRevision: int(3), version: int(4) }
const KeyValue = message({ key: bytes(1), ...versions, value: bytes(5) })
/** A key of a range. It is copied from the bytes that the socket has received, which are not kept. */
const ReadKeyValue = message({ key: bytes(1, Buffer.from), ...versions, value: bytes(5, loadedBytes) })

const RangeRequest = message({
  key: bytes(1),
  rangeEnd: bytes(2),
  limit: int(3),
  revision: int(4),
  keysOnly: bool(8),
  countOnly: bool(9),
})
const RangeResponse = message({
  header: nested(1, () => Header),
  kvs: repeated(nested(2, () => ReadKeyValue)),
  more: bool(3),
  count: int(4),
})
const PutRequest = message({ key: bytes(1), value: bytes(2), lease: int64(3) })
const PutResponse = message({ header: nested(1, () => Header) })
const DeleteRequest = message({ key: bytes(1) })
const DeleteResponse = message({
  header: nested(1, () => Header),
  deleted: int(2),
  previous: repeated(nested(3, () => KeyValue)),
})

const RequestOp = message({
  range: nested(1, () => RangeRequest),
  put: nested(2, () => PutRequest),
  delete: nested(3, () => DeleteRequest),
})
const ResponseOp = message({
  range: nested(1, () => RangeResponse),
  put: nested(2, () => PutResponse),
  delete: nested(3, () => DeleteResponse),
})
const Compare = message({
  result: int(1),
  target: int(2),
  key: bytes(3),
  version: optional(int(4)),
  modRevision: optional(int(6)),
})
const TxnRequest = message({
  compare: repeated(nested(1, () => Compare)),
  success: repeated(nested(2, () => RequestOp)),
  failure: repeated(nested(3, () => RequestOp)),
})
const TxnResponse = message({
  header: nested(1, () => Header),
  succeeded: bool(2),
  responses: repeated(nested(3, () => ResponseOp)),
})

const CompactionRequest = message({ revision: int(1), physical: bool(2) })
const CompactionResponse = message({ header: nested(1, () => Header) })

const WatchCreate = message({
  key: bytes(1),
  rangeEnd: bytes(2),
  startRevision: int(3),
  progressNotify: bool(4),
  prevKv: bool(6),
})
const WatchRequest = message({ create: nested(1, () => WatchCreate), progress: nested(3, () => Nothing) })
const WatchEvent = message({ type: int(1), kv: nested(2, () => KeyValue), prevKv: nested(3, () => KeyValue) })
const WatchResponse = message({
  header: nested(1, () => Header),
  watchId: int64(2),
  created: bool(3),
  canceled: bool(4),
  compactRevision: int(5),
  cancelReason: string(6),
  events: repeated(nested(11, () => WatchEvent)),
})

const StatusResponse = message({
  header: nested(1, () => Header),
  version: string(2),
  dbSize: int(3),
  leader: uint64(4),
  errors: repeated(string(8)),
})

export type EtcdKeyValue = MessageOf<typeof KeyValue>
export type EtcdTxnResponse = MessageOf<typeof TxnResponse>
export type EtcdEvent = MessageOf<typeof WatchEvent>
export type EtcdWatchResponse = MessageOf<typeof WatchResponse>

/** `Compare.target`; `result` 0 means equal. */
export const CompareTarget = { version: 0, mod: 2 } as const
/** `Event.type`. */
export const EventType = { put: 0, delete: 1 } as const

export const etcdMethods = {
  range: { path: '/etcdserverpb.KV/Range', request: RangeRequest, response: RangeResponse },
  put: { path: '/etcdserverpb.KV/Put', request: PutRequest, response: PutResponse },
  txn: { path: '/etcdserverpb.KV/Txn', request: TxnRequest, response: TxnResponse },
  compact: { path: '/etcdserverpb.KV/Compact', request: CompactionRequest, response: CompactionResponse },
  watch: { path: '/etcdserverpb.Watch/Watch', request: WatchRequest, response: WatchResponse },
  status: { path: '/etcdserverpb.Maintenance/Status', request: Nothing, response: StatusResponse },
} as const
