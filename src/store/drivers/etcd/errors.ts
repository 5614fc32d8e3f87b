import type { RpcError } from '../../../grpc/index.ts'
import { CommitFailedError, StoreUnavailableError, ValueTooLargeError } from '../../store.ts'

/** What a failure of etcd means to who uses the store. */
export function explain(error: RpcError): Error {
  const { code, detail } = error
  if (code === 'InvalidArgument' && detail.includes('request is too large')) return new ValueTooLargeError(detail)
  if (code === 'ResourceExhausted' && detail.includes('larger than max')) return new ValueTooLargeError(detail)
  if (code === 'Unavailable' || code === 'DeadlineExceeded' || code === 'Canceled') return new StoreUnavailableError(`etcd cannot be reached: ${detail}`)
  // No room in its database, no right to write there …
  return new CommitFailedError(error)
}
