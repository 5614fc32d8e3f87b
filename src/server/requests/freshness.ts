import { ApiError, entityTooLarge, internalError, serviceUnavailable } from '../../api/errors.ts'
import type { Clock } from '../../base/clock.ts'
import { StoreUnavailableError, ValueTooLargeError, WriteUncertainError } from '../../store/index.ts'
import type { ObjectStore } from '../objects/object-store.ts'

/** As Kubernetes: how long a read waits for a version that this server has not seen. */
const versionWaitMs = 3000

/**
 * What a request waits for before it is answered from memory. Nothing where no other server writes to the store, and
 * where `resourceVersion=0` asks for anything that is known.
 */
export function freshness(objects: ObjectStore, method: string, query: URLSearchParams, clock: Clock): Promise<void> | undefined {
  if (!objects.isShared) return undefined
  if (method !== 'GET') return objects.catchUp()
  const version = query.get('resourceVersion')
  if (version === '0') return undefined
  if (!version) return objects.catchUp()
  const revision = Number(version)
  // What cannot be read is refused by who reads it.
  return revision > objects.revision ? atMost(versionWaitMs, objects.waitUntilSeen(revision), clock) : undefined
}

/** Waits for so long and no longer; whoever waits looks what has come of it. */
function atMost(ms: number, waiting: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, resolve)
    waiting.finally(cancel).then(resolve, reject)
  })
}

/** An error that a request ended with, as its sender is told. */
export function answeredError(e: unknown): ApiError {
  if (e instanceof ApiError) return e
  // The same request may be sent again: nothing was written.
  if (e instanceof StoreUnavailableError) return new ApiError(503, serviceUnavailable('').reason, e.message, { retryAfterSeconds: 1 })
  if (e instanceof WriteUncertainError) return new ApiError(504, 'Timeout', `Timeout: ${e.message}`)
  if (e instanceof ValueTooLargeError) return entityTooLarge(`Request entity too large: ${e.message}`)
  return internalError(e instanceof Error ? e.message : String(e))
}

/** True if an error is nobody's mistake: the store could not be reached. */
export const isStoreTrouble = (e: unknown): boolean =>
  e instanceof StoreUnavailableError || e instanceof WriteUncertainError || e instanceof ValueTooLargeError
