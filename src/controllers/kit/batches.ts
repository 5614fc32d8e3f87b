import type { Pace } from './definition.ts'

export interface BatchResult<T> {
  done: T[]
  failed: { item: T; error: Error }[]
  skipped: T[]
}

const asError = (e: unknown): Error => (e instanceof Error ? e : new Error(String(e)))

/** How many come next after a batch of `last`; 0 before the first. */
const sizes: Record<Pace, (last: number) => number> = {
  'one by one': () => 1,
  'slow start': (last) => (last === 0 ? 1 : last * 2),
  'all at once': () => Infinity,
}

/** Runs all items at their pace: batch after batch, each batch at the same time. A batch with a failure is the last. */
export async function inBatches<T>(items: readonly T[], pace: Pace, run: (item: T) => Promise<unknown>): Promise<BatchResult<T>> {
  const result: BatchResult<T> = { done: [], failed: [], skipped: [] }
  const nextSize = sizes[pace]
  let at = 0
  for (let size = nextSize(0); at < items.length; size = nextSize(size)) {
    const batch = items.slice(at, at + size)
    at += batch.length
    const ends = await Promise.allSettled(batch.map((item) => run(item)))
    for (const [i, end] of ends.entries()) {
      if (end.status === 'fulfilled') result.done.push(batch[i]!)
      else result.failed.push({ item: batch[i]!, error: asError(end.reason) })
    }
    if (result.failed.length > 0) break
  }
  result.skipped.push(...items.slice(at))
  return result
}
