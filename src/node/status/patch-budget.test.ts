import { expect, it } from 'vitest'
import { PatchBudget, burst, refillMs } from './patch-budget.ts'

it('PatchBudget gives a burst at once, and then one for each interval', () => {
  const budget = new PatchBudget(0)
  let given = 0
  for (let nowMs = 0; nowMs < 60_000; nowMs += 100) if (budget.take(nowMs) === 0) given++
  expect(given).toBe(burst + Math.floor(59_900 / refillMs))
  expect(budget.take(60_000)).toBe(0)
  expect(budget.take(60_000)).toBe(refillMs)
})
