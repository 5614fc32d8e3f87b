import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { systemClock } from './clock.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('systemClock waits as long as it was told, beyond what one timer can', () => {
  const monthMs = 31 * 24 * 3_600_000
  let ran = 0
  systemClock.after(monthMs, () => ran++)
  vi.advanceTimersByTime(monthMs - 1)
  expect(ran).toBe(0)
  vi.advanceTimersByTime(1)
  expect(ran).toBe(1)
})

it('systemClock runs nothing that was cancelled, in whichever stretch of its wait', () => {
  const cancel = systemClock.after(2 ** 31 + 1000, () => expect.fail('was cancelled'))
  vi.advanceTimersByTime(2 ** 31)
  cancel()
  vi.advanceTimersByTime(2000)
})
