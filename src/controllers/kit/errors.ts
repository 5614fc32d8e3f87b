import { ApiError, isConflict, isNotFound } from '../../api/errors.ts'
import { TransportError } from '../../client/index.ts'

/** Trying again cannot help: the key rests until something changes. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TerminalError'
  }
}

/**
 * The name of a revision belongs to another one, such as that of a workload of another kind with the same name. The
 * collision is counted in the status, and the next attempt has another name: nobody has to hear of it.
 */
export class RevisionTakenError extends Error {}

/** Whether a write may have taken effect although it was answered with this, or not at all. */
export const isFateUnknown = (e: unknown): boolean => (e instanceof TransportError ? !e.isUnsent : e instanceof ApiError && e.code >= 500)

/** Nothing can be made in a namespace that is going: what was meant to be made would go, too. */
export const isNamespaceTerminating = (e: unknown): boolean =>
  e instanceof ApiError && e.code === 403 && (e.details?.causes?.some((c) => c.reason === 'NamespaceTerminating') ?? false)

/** How a reconcile ended; also the label of its count. */
export type Result = 'success' | 'requeue_after' | 'stale' | 'conflict' | 'error' | 'terminal' | 'gone'

/**
 * Judges a failure. A conflict, or an object that is gone, is no fault: somebody else was faster, and the
 * cache will say so.
 */
export function judge(error: unknown): 'conflict' | 'terminal' | 'error' {
  if (error instanceof RevisionTakenError) return 'conflict'
  if (isConflict(error) || (isNotFound(error) && error.details?.kind !== 'namespaces')) return 'conflict'
  return error instanceof TerminalError || isNamespaceTerminating(error) ? 'terminal' : 'error'
}
