import { describe, expect, it } from 'vitest'
import { parseDuration, printDuration } from './duration.ts'

describe('parseDuration()', () => {
  it.each([['9s', 9000], ['1m30s', 90_000], ['250ms', 250], ['1.5s', 1500], ['2h', 7_200_000], ['', undefined], ['9', undefined], ['s', undefined], ['9s!', undefined]])('reads %j', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })
})

describe('printDuration()', () => {
  it.each([[0, '0s'], [250, '250ms'], [1500, '1.5s'], [10_000, '10s'], [80_000, '1m20s'], [300_000, '5m0s'], [3_600_000, '1h0m0s']])('prints %d ms', (ms, text) => {
    expect(printDuration(ms)).toBe(text)
  })
})
