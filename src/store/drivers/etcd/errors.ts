import type { RpcError } from '../../../grpc/index.ts'
import { CommitFailedError, StoreUnavailableError, ValueTooLargeError } from '../../store.ts'

/** Errors of a member that failed for its own reasons. Older releases send them without a code. */
const ownTrouble = /context deadline exceeded|context canceled|raft: stopped|leader changed|server stopped/

/** Returns true if the member or the quorum failed, not the request: a retry may succeed. */
export function isTrouble({ code, detail }: RpcError): boolean {
  if (code === 'Unavailable' || code === 'DeadlineExceeded' || code === 'Canceled') return true
  return code === 'Unknown'
    ? ownTrouble.test(detail)
    : code === 'ResourceExhausted' && detail.includes('too many requests')
}

/** Returns true if a message exceeds the size limit of its receiver. */
export const isTooLarge = ({ code, detail }: RpcError): boolean =>
  code === 'ResourceExhausted' && detail.includes('larger than max')

/** Converts an error of etcd to an error of the Store interface. */
export function explain(error: RpcError): Error {
  const { code, detail } = error
  if (code === 'InvalidArgument' && detail.includes('request is too large')) return new ValueTooLargeError(detail)
  if (isTooLarge(error)) return new ValueTooLargeError(detail)
  if (isTrouble(error)) return new StoreUnavailableError(`etcd cannot be reached: ${detail}`)
  // For example a full database, or missing write permission.
  return new CommitFailedError(error)
}
