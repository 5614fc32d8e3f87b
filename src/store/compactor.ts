import type { Clock } from '../base/clock.ts'
import type { Store } from './store.ts'

export interface CompactorOptions {
  clock: Clock
  /** History older than this is forgotten. */
  maxAgeMs: number
  /** More history than this is forgotten, however young. */
  maxRevisions: number
  /** How often to look. */
  intervalMs: number
  /** Told when a compaction fails; it is tried again at the next interval. */
  onError?: (why: Error) => void
}

/** What the decision depends on. */
export interface HistoryKept {
  revision: number
  compactedRevision: number
  /** The newest revision that is older than may be kept. */
  expiredRevision: number | undefined
}

/** Up to where to forget history now; undefined if all of it may stay. */
export function chooseCompaction(kept: HistoryKept, maxRevisions: number): number | undefined {
  const target = Math.max(kept.expiredRevision ?? 0, kept.revision - maxRevisions)
  return target > kept.compactedRevision ? target : undefined
}

/** Forgets history by age and by count until the returned function is called. An idle store of one process is left alone. */
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
