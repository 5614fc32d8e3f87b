import { describe, expect, it } from 'vitest'
import { burnAlerts, burnWindows, errorBudget } from './prometheus-rules.ts'
import { parseWindow, printWindow } from './sliding-sums.ts'

const slo = (objectivePercent: number, window: string) => ({ objectivePercent, windowMs: parseWindow(window)! })

describe('burnAlerts()', () => {
  it.each([
    ['the workbook\'s own case', slo(99.9, '30d'), ['page 1h 5m 14.4', 'page 6h 30m 6', 'ticket 3d 6h 1']],
    ['four weeks: none burns slower than the budget lasts', slo(99.9, '28d'), ['page 1h 5m 13.44', 'page 6h 30m 5.6', 'ticket 3d 6h 1']],
    ['a week', slo(99, '7d'), ['page 1h 5m 3.36', 'page 6h 30m 1.4', 'ticket 3d 6h 1']],
    ['a day: three days are no part of it', slo(99, '1d'), ['page 1h 5m 1', 'page 6h 30m 1']],
    ['an hour', slo(99, '1h'), ['page 1h 5m 1']],
    ['a low objective: 1.44 of all events cannot be bad', slo(90, '30d'), ['page 6h 30m 6', 'ticket 3d 6h 1']],
  ])('%s', (_what, objective, expected) => {
    expect(burnAlerts(objective).map(({ severity, longMs, shortMs, factor }) => [severity, printWindow(longMs), printWindow(shortMs), factor].join(' '))).toEqual(expected)
  })
})

describe('burnWindows()', () => {
  it.each([
    ['30d', ['5m', '30m', '1h', '6h', '3d', '30d']],
    ['3d', ['5m', '30m', '1h', '6h', '3d']],
    ['90m', ['5m', '30m', '1h', '90m']],
  ])('%s', (window, expected) => {
    expect(burnWindows(slo(99, window)).map(printWindow)).toEqual(expected)
  })
})

describe('errorBudget()', () => {
  it.each([[99.9, 0.001], [99.5, 0.005], [99.99, 0.0001], [95, 0.05]])('of %d%% is %d', (objectivePercent, expected) => {
    expect(errorBudget({ objectivePercent })).toBe(expected)
  })
})
