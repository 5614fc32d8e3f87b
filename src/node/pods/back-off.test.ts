import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { BackOff } from './back-off.ts'

describe('BackOff', () => {
  it('does not wait the first time, then doubles up to the longest', () => {
    const clock = new VirtualClock(0)
    const backOff = new BackOff(clock, 10_000, 300_000)
    const waits: number[] = []
    for (let i = 0; i < 8; i++) {
      const waitMs = backOff.leftMs('a', clock.now())
      waits.push(waitMs / 1000)
      clock.advance(waitMs)
      backOff.next('a', clock.now())
    }
    expect(waits).toEqual([0, 10, 20, 40, 80, 160, 300, 300])
  })

  it('counts from when the thing last ended', () => {
    const clock = new VirtualClock(0)
    const backOff = new BackOff(clock, 10_000, 300_000)
    backOff.next('a', 0)
    clock.advance(4000)
    expect(backOff.leftMs('a', 0)).toBe(6000)
    expect(backOff.leftMs('a', 3000)).toBe(9000)
  })

  it('begins anew when all was well for twice the longest', () => {
    const clock = new VirtualClock(0)
    const backOff = new BackOff(clock, 10_000, 300_000)
    backOff.next('a', 0)
    backOff.next('a', 0)
    expect(backOff.leftMs('a', 600_000)).toBe(620_000)
    expect(backOff.leftMs('a', 600_001)).toBe(0)
  })
})
