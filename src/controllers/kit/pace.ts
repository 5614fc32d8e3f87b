import type { Pace } from './definition.ts'

export interface PaceResult<T> {
  done: T[]
  failed: { item: T; error: Error }[]
  skipped: T[]
  /** How many may be under way at a time by now. */
  width: number
}

/** The most that are under way "all at once": to begin thousands in one turn would hold up everybody else. */
const mostAtOnce = 256

const asError = (e: unknown): Error => (e instanceof Error ? e : new Error(String(e)))

/**
 * Runs all items, so many at a time as their pace allows. In a slow start one more is allowed with each that succeeds, beginning with `startWidth`: about
 * as many as have succeeded so far can be under way, and fail, at a time. After a failure nothing more is begun, unless all go at once anyway.
 */
export async function atPace<T>(items: readonly T[], pace: Pace, run: (item: T) => Promise<unknown>, startWidth = 1): Promise<PaceResult<T>> {
  const startWidths: Record<Pace, number> = { 'one by one': 1, 'slow start': startWidth, 'all at once': mostAtOnce }
  const errors = new Map<number, Error>()
  let width = startWidths[pace]
  let begun = 0
  let underWay = 0
  const hasMore = () => begun < items.length && (errors.size === 0 || pace === 'all at once')
  /** One item after the other; where the width grows, another lane beside it. */
  async function lane(): Promise<void> {
    const beside: Promise<void>[] = []
    while (hasMore()) {
      const at = begun++
      underWay++
      try {
        await run(items[at]!)
        // A width that was not made use of says nothing of what a larger one would do.
        if (pace === 'slow start' && underWay === width) {
          width++
          beside.push(lane())
        }
      } catch (e) {
        errors.set(at, asError(e))
      } finally {
        underWay--
      }
    }
    await Promise.all(beside)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane))
  const begunItems = [...items.slice(0, begun).entries()]
  return {
    done: begunItems.filter(([at]) => !errors.has(at)).map(([, item]) => item),
    failed: begunItems.flatMap(([at, item]) => (errors.has(at) ? [{ item, error: errors.get(at)! }] : [])),
    skipped: items.slice(begun),
    width,
  }
}
