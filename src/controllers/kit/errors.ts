import { ApiError, isConflict, isNotFound } from '../../api/errors.ts'
import { TransportError } from '../../client/index.ts'

/** A retry cannot succeed: the key is not reconciled again before something changes. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TerminalError'
  }
}

/**
 * The name of a revision belongs to another revision, for example of another workload kind with the same name. The
 * collision is counted in the status, and the next attempt uses another name. Users are not notified.
 */
export class RevisionTakenError extends Error {}

/** Reports whether a write may have taken effect although its response was this error or lost. */
export const isFateUnknown = (e: unknown): boolean =>
  e instanceof TransportError ? !e.isUnsent : e instanceof ApiError && e.code >= 500

/** No object can be created in a namespace that is being deleted. */
export const isNamespaceTerminating = (e: unknown): boolean =>
  e instanceof ApiError &&
  e.code === 403 &&
  (e.details?.causes?.some((c) => c.reason === 'NamespaceTerminating') ?? false)

/** The result of a reconcile, also used as a metrics label. */
export type Result = 'success' | 'requeue_after' | 'stale' | 'conflict' | 'error' | 'terminal' | 'gone'

/**
 * Classifies a failure. A conflict or a missing object is not a fault: another writer was faster, and the cache will
 * receive its change.
 */
export function judge(error: unknown): 'conflict' | 'terminal' | 'error' {
  if (error instanceof RevisionTakenError) return 'conflict'
  if (isConflict(error) || (isNotFound(error) && error.details?.kind !== 'namespaces')) return 'conflict'
  return error instanceof TerminalError || isNamespaceTerminating(error) ? 'terminal' : 'error'
}
