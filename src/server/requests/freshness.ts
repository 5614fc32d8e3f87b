import { ApiError, entityTooLarge, internalError, serviceUnavailable } from '../../api/errors.ts'
import type { Clock } from '../../base/clock.ts'
import { StoreUnavailableError, ValueTooLargeError, WriteUncertainError } from '../../store/index.ts'
import type { ObjectStore } from '../objects/object-store.ts'

/** The maximum time that a read waits for a version that this server has not seen, as in Kubernetes. */
const versionWaitMs = 3000

/**
 * Waits until the cache is fresh enough for a request. Undefined if no other server writes to the store, and for
 * `resourceVersion=0`, which accepts any version.
 */
export function freshness(
  objects: ObjectStore,
  method: string,
  query: URLSearchParams,
  clock: Clock,
): Promise<void> | undefined {
  if (!objects.isShared) return undefined
  if (method !== 'GET') return objects.catchUp()
  const version = query.get('resourceVersion')
  if (version === '0') return undefined
  if (!version) return objects.catchUp()
  const revision = Number(version)
  // The verb rejects a malformed version.
  return revision > objects.revision ? untilVersion(objects, revision, clock) : undefined
}

/**
 * Resolves once the cache has reached a revision, or after the time limit; the verb rejects a version that is still in
 * the future. The store is asked for its current revision only, because the version may exist nowhere.
 */
async function untilVersion(objects: ObjectStore, revision: number, clock: Clock): Promise<void> {
  await objects.catchUp()
  const limit = new AbortController()
  const cancel = clock.after(versionWaitMs, () => limit.abort())
  try {
    await objects.waitForEvents(revision, limit.signal)
  } finally {
    cancel()
  }
}

/** Converts an error into the ApiError of the response. */
export function answeredError(e: unknown): ApiError {
  if (e instanceof ApiError) return e
  // Nothing was written, so the client may retry.
  if (e instanceof StoreUnavailableError)
    return new ApiError(503, serviceUnavailable('').reason, e.message, { retryAfterSeconds: 1 })
  if (e instanceof WriteUncertainError) return new ApiError(504, 'Timeout', `Timeout: ${e.message}`)
  if (e instanceof ValueTooLargeError) return entityTooLarge(`Request entity too large: ${e.message}`)
  return internalError(e instanceof Error ? e.message : String(e))
}

/** True if the store failed, rather than the request or the server. */
export const isStoreTrouble = (e: unknown): boolean =>
  e instanceof StoreUnavailableError || e instanceof WriteUncertainError || e instanceof ValueTooLargeError
