import type { Pace } from './definition.ts'

export interface BatchResult<T> {
  done: T[]
  failed: { item: T; error: Error }[]
  skipped: T[]
  /** How large a batch may come next. */
  nextSize: number
}

const asError = (e: unknown): Error => (e instanceof Error ? e : new Error(String(e)))

/** How much larger the next batch may be. */
const growth: Record<Pace, number> = { 'one by one': 1, 'slow start': 2, 'all at once': Infinity }

/** Runs all items at their pace: batch after batch, each batch at the same time. A batch with a failure is the last. A slow start begins with a batch of `startSize`. */
export async function inBatches<T>(items: readonly T[], pace: Pace, run: (item: T) => Promise<unknown>, startSize = 1): Promise<BatchResult<T>> {
  const firstSizes: Record<Pace, number> = { 'one by one': 1, 'slow start': startSize, 'all at once': Infinity }
  const result: BatchResult<T> = { done: [], failed: [], skipped: [], nextSize: firstSizes[pace] }
  let at = 0
  while (at < items.length) {
    const batch = items.slice(at, at + result.nextSize)
    at += batch.length
    const ends = await Promise.allSettled(batch.map((item) => run(item)))
    for (const [i, end] of ends.entries()) {
      if (end.status === 'fulfilled') result.done.push(batch[i]!)
      else result.failed.push({ item: batch[i]!, error: asError(end.reason) })
    }
    if (result.failed.length > 0) break
    if (batch.length === result.nextSize) result.nextSize *= growth[pace]
  }
  result.skipped.push(...items.slice(at))
  return result
}
