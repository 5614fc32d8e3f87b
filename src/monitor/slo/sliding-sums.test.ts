import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SlidingSums } from './sliding-sums.ts'

const hourMs = 3_600_000
const startMs = Date.UTC(2026, 0, 1)

describe('SlidingSums', () => {
  it.each([
    ['now', 0, 1],
    ['until the window has gone by', hourMs, 1],
    ['and a slot of it at most', hourMs + hourMs / 120, 0],
  ])('counts what was added: %s', (_when, laterMs, expected) => {
    const sums = new SlidingSums(hourMs, 1)
    sums.add(startMs, startMs, [0])
    expect(sums.totals(startMs + laterMs)).toEqual([expected])
  })

  it('takes what is late where it belongs, and leaves what is too late', () => {
    const sums = new SlidingSums(hourMs, 2)
    sums.add(startMs, startMs, [0])
    sums.add(startMs - hourMs / 2, startMs, [1])
    sums.add(startMs - 2 * hourMs, startMs, [1])
    expect(sums.totals(startMs)).toEqual([1, 1])
    expect(sums.totals(startMs + 0.6 * hourMs)).toEqual([1, 0])
  })

  it('takes what a clock that is ahead says to be of the future as of now', () => {
    const sums = new SlidingSums(hourMs, 1)
    sums.add(startMs + 5 * hourMs, startMs, [0])
    expect(sums.totals(startMs + 1.1 * hourMs)).toEqual([0])
  })

  it('tells when it was', () => {
    const sums = new SlidingSums(hourMs, 1)
    for (const minutes of [59, 31, 29, 1, 0]) sums.add(startMs - minutes * 60_000, startMs, [0])
    expect(sums.history(startMs, 4)).toEqual([[1], [1], [1], [2]])
  })

  it('agrees with a list of everything, to a slot, and is the same after a restart; memory stays within its bounds', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 400_000 }), fc.integer({ min: 0, max: 200_000 }), fc.integer({ min: 0, max: 2 })), { maxLength: 400 }), (steps) => {
        let nowMs = startMs
        let sums = new SlidingSums(hourMs, 3)
        const all: [number, number][] = []
        for (const [passMs, lateMs, which] of steps) {
          nowMs += passMs
          sums.add(nowMs - lateMs, nowMs, [which])
          all.push([nowMs - lateMs, which])
          const saved = sums.save()
          expect(saved.length).toBeLessThanOrEqual(121 * 4)
          sums = new SlidingSums(hourMs, 3)
          sums.restore(saved)
        }
        const within = (ms: number) => [0, 1, 2].map((i) => all.filter(([at, which]) => which === i && at > nowMs - ms).length)
        for (const [i, total] of sums.totals(nowMs).entries()) {
          expect(total).toBeGreaterThanOrEqual(within(hourMs)[i]!)
          expect(total).toBeLessThanOrEqual(within(hourMs + hourMs / 120 + 1)[i]!)
        }
      }),
      { numRuns: 50 },
    )
  })
})
