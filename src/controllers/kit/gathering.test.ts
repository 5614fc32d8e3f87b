import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { Gathering, gatherMs } from './gathering.ts'

describe('Gathering', () => {
  it.each([
    ['a small owner is reconciled at once', 99, 0],
    ['100 members', 100, 1],
    ['1,000 members', 1000, 10],
    ['10,000 members wait no longer than 5,000', 10_000, 50],
  ])('%s', (_, members, expected) => expect(gatherMs(members)).toBe(expected))

  it('does not keep the first change waiting, and the next for what is left', () => {
    const clock = new VirtualClock()
    const gathering = new Gathering(clock)
    expect(gathering.waitMs('a', 1000)).toBe(0)
    gathering.started('a')
    expect(gathering.waitMs('a', 1000)).toBe(10)
    expect(gathering.waitMs('b', 1000)).toBe(0)
    clock.advance(4)
    expect(gathering.waitMs('a', 1000)).toBe(6)
    clock.advance(6)
    expect(gathering.waitMs('a', 1000)).toBe(0)
    gathering.started('a')
    gathering.forget('a')
    expect(gathering.waitMs('a', 1000)).toBe(0)
  })
})
