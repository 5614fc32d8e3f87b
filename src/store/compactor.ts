import type { CompactorOptions, Store } from './store.ts'

/** Input of `chooseCompaction`. */
export interface HistoryKept {
  revision: number
  compactedRevision: number
  /** The newest revision older than `maxAgeMs`. */
  expiredRevision: number | undefined
}

/** Returns the revision to compact to; undefined if the whole history may stay. */
export function chooseCompaction(kept: HistoryKept, maxRevisions: number): number | undefined {
  const target = Math.max(kept.expiredRevision ?? 0, kept.revision - maxRevisions)
  return target > kept.compactedRevision ? target : undefined
}

/**
 * Compacts by age and by count until the returned function is called. An idle store that only this process writes to is
 * not compacted.
 */
export function startCompactor(store: Store, options: CompactorOptions): () => void {
  if (store.keepCompacted) return store.keepCompacted(options)
  const { clock, maxAgeMs, maxRevisions, intervalMs, onError } = options
  let cancel: () => void
  let isStopped = false

  const look = async (): Promise<void> => {
    const { revision, compactedRevision } = store
    const expiredRevision = store.revisionAt(clock.now() - maxAgeMs)
    const target = chooseCompaction({ revision, compactedRevision, expiredRevision }, maxRevisions)
    try {
      if (target !== undefined) await store.compact(target)
    } catch (error) {
      onError?.(error instanceof Error ? error : new Error(String(error)))
    }
    if (!isStopped) cancel = clock.after(intervalMs, () => void look())
  }

  cancel = clock.after(intervalMs, () => void look())
  return () => {
    isStopped = true
    cancel()
  }
}
