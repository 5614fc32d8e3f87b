import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Arena, type Figures } from '../attack/arena.ts'
import type { Row } from '../attack/row.ts'
import { attackRows } from '../attack/rows.ts'

/** A tenth of what is allowed: a cost that grows faster than the body still shows, and the whole takes seconds. */
const bytes = 290_000
/** The time for which a request of this size may block the event loop of a quiet machine. A quadratic one took seconds. */
const limitMs = 50
/**
 * On a busy machine a request may use as much CPU as so many empty ones at that moment. An empty one takes 0.1 to 0.3 ms.
 * Most linear ones take 20 to 500 times as much, and the longest, an answer of 260 KB as YAML, 1,000 times.
 */
const emptyRequests = 1500
/** Other work on the machine, and code that runs for the first time, only ever make it longer. */
const tries = 6

const rows = attackRows.filter((row) => row.short)
const arena = new Arena(path.resolve('bin/coxswain'), 10_000)

beforeAll(() => arena.start())
afterAll(() => arena.stop())

interface Judged extends Figures {
  /** The limit at that moment. */
  allowedMs: number
}

/** The first of some tries that is within the limit, otherwise the best. What an empty request takes is measured beside each. */
async function best(row: Row): Promise<Judged> {
  let found: Judged | undefined
  for (let i = 0; i < tries; i++) {
    const figures = await arena.run(row, bytes)
    const allowedMs = figures.heldMs <= limitMs ? limitMs : Math.max(limitMs, emptyRequests * (await arena.emptyMs()))
    const judged = { ...figures, allowedMs }
    if (judged.heldMs <= allowedMs) return judged
    if (!found || judged.heldMs - allowedMs < found.heldMs - found.allowedMs) found = judged
  }
  return found!
}

test('the table is as long as it should be', () => {
  expect(attackRows.length).toBeGreaterThanOrEqual(120)
  expect(new Set(attackRows.map(({ name }) => name)).size).toBe(attackRows.length)
  expect(rows.length).toBeGreaterThanOrEqual(40)
})

test.each(rows.map((row) => [row.name, row] as const))('%s: others are answered meanwhile, and nothing is a fault of ours', async (_, row) => {
  const { heldMs, allowedMs, code, text } = await best(row)
  expect(code >= 500 && !row.also?.includes(code) ? text : '').toBe('')
  expect(code).toBeGreaterThan(0)
  expect(heldMs).toBeLessThanOrEqual(allowedMs)
})
