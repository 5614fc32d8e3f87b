import { describe, expect, it } from 'vitest'
import { ageOf, humanDuration } from './duration.ts'

const [s, m, h, d, y] = [1, 60, 3600, 86400, 31536000]

describe('humanDuration()', () => {
  it.each([
    [0, '0s'],
    [-1, '0s'],
    [-2, '<invalid>'],
    [119 * s, '119s'],
    [120 * s, '2m'],
    [2 * m + 5, '2m5s'],
    [10 * m + 5, '10m'],
    [179 * m + 59, '179m'],
    [3 * h, '3h'],
    [3 * h + 20 * m, '3h20m'],
    [8 * h + 20 * m, '8h'],
    [47 * h, '47h'],
    [2 * d, '2d'],
    [2 * d + 4 * h, '2d4h'],
    [8 * d + 4 * h, '8d'],
    [2 * y - h, '729d'],
    [2 * y, '2y'],
    [2 * y + 30 * d, '2y30d'],
    [8 * y + 30 * d, '8y'],
  ])('%i seconds are %s', (seconds, text) => {
    expect(humanDuration(seconds * 1000)).toBe(text)
  })
})

describe('ageOf()', () => {
  const now = Date.parse('2026-01-01T00:05:00Z')
  it('says how long ago a time was', () => expect(ageOf('2026-01-01T00:00:00Z', now)).toBe('5m'))
  it('does not know the age of what has no time', () => expect(ageOf(undefined, now)).toBe('<unknown>'))
  it('refuses the future', () => expect(ageOf('2026-01-02T00:00:00Z', now)).toBe('<invalid>'))
})
