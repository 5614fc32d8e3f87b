import { describe, expect, it, test } from 'vitest'
import { inBatches } from './batches.ts'
import type { Pace } from './definition.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

/** Runs and says how many were under way at once in each batch. */
async function sizes(count: number, pace: Pace, startSize?: number): Promise<number[]> {
  const found: number[] = []
  let open: (() => void)[] = []
  const all = inBatches(numbers(count), pace, () => new Promise<void>((resolve) => open.push(resolve)), startSize)
  while (open.length > 0) {
    found.push(open.length)
    const batch = open
    open = []
    for (const end of batch) end()
    await new Promise(setImmediate)
  }
  await all
  return found
}

describe('inBatches()', () => {
  test.each<[Pace, number, number[]]>([
    ['one by one', 3, [1, 1, 1]],
    ['slow start', 10, [1, 2, 4, 3]],
    ['slow start', 1, [1]],
    ['slow start', 0, []],
    ['all at once', 5, [5]],
  ])('%s, %i items: %j', async (pace, count, expected) => {
    expect(await sizes(count, pace)).toEqual(expected)
  })

  test.each<[Pace, number, number, number[], number]>([
    ['slow start', 4, 11, [4, 7], 8],
    ['slow start', 8, 5, [5], 8],
    ['slow start', 4, 4, [4], 8],
    ['one by one', 4, 2, [1, 1], 1],
    ['all at once', 4, 9, [9], Infinity],
  ])('%s from %i on, %i items: %j, and then %i', async (pace, startSize, count, expected, nextSize) => {
    expect(await sizes(count, pace, startSize)).toEqual(expected)
    expect((await inBatches(numbers(count), pace, async () => {}, startSize)).nextSize).toBe(nextSize)
  })

  const failing = (...bad: number[]) => async (n: number) => {
    if (bad.includes(n)) throw new Error(`${n} failed`)
  }

  it('slow start stops after the batch in which something failed', async () => {
    const { done, failed, skipped } = await inBatches(numbers(10), 'slow start', failing(1))
    expect({ done, failed: failed.map((f) => f.item), skipped }).toEqual({ done: [0, 2], failed: [1], skipped: [3, 4, 5, 6, 7, 8, 9] })
  })

  it('slow start makes one attempt if everything is refused', async () => {
    let attempts = 0
    const { skipped } = await inBatches(numbers(1000), 'slow start', async () => {
      attempts++
      throw new Error('quota')
    })
    expect(attempts).toBe(1)
    expect(skipped).toHaveLength(999)
  })

  it('one by one stops at the first that fails', async () => {
    const { done, failed, skipped } = await inBatches(numbers(4), 'one by one', failing(1))
    expect({ done, failed: failed.map((f) => f.error.message), skipped }).toEqual({ done: [0], failed: ['1 failed'], skipped: [2, 3] })
  })

  it('all at once tries all', async () => {
    const { done, failed, skipped } = await inBatches(numbers(4), 'all at once', failing(0, 2))
    expect({ done, failed: failed.map((f) => f.item), skipped }).toEqual({ done: [1, 3], failed: [0, 2], skipped: [] })
  })
})
