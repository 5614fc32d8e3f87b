import type { RpcError } from '../../../grpc/index.ts'
import { CommitFailedError, StoreUnavailableError, ValueTooLargeError } from '../../store.ts'

/** Errors of a member that gives up for reasons of its own; older releases give them no code. */
const ownTrouble = /context deadline exceeded|context canceled|raft: stopped|leader changed|server stopped/

/** True if a failure tells of the member or the quorum, and nothing of the request: another attempt may succeed. */
export function isTrouble({ code, detail }: RpcError): boolean {
  if (code === 'Unavailable' || code === 'DeadlineExceeded' || code === 'Canceled') return true
  return code === 'Unknown' ? ownTrouble.test(detail) : code === 'ResourceExhausted' && detail.includes('too many requests')
}

/** What a failure of etcd means to who uses the store. */
export function explain(error: RpcError): Error {
  const { code, detail } = error
  if (code === 'InvalidArgument' && detail.includes('request is too large')) return new ValueTooLargeError(detail)
  if (code === 'ResourceExhausted' && detail.includes('larger than max')) return new ValueTooLargeError(detail)
  if (isTrouble(error)) return new StoreUnavailableError(`etcd cannot be reached: ${detail}`)
  // No room in its database, no right to write there …
  return new CommitFailedError(error)
}
