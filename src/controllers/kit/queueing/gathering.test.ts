import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import { Gathering, gatherMs } from './gathering.ts'

describe('Gathering', () => {
  it.each([
    ['a small owner is reconciled at once', 99, 49, 0],
    ['100 members', 100, 0, 1],
    ['1,000 members', 1000, 0, 10],
    ['10,000 members wait no longer than 5,000', 10_000, 0, 50],
    ['100 objects that are gone through', 0, 100, 10],
    ['1,000 objects that are gone through', 0, 1000, 100],
    ['50,000 objects that are gone through wait no longer than 10,000', 0, 50_000, 1000],
  ])('%s', (_, members, goneThrough, expected) => expect(gatherMs({ members, goneThrough })).toBe(expected))

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
    gathering.goesThrough('a', 500)
    expect(gathering.waitMs('a', 1000)).toBe(50)
    gathering.forget('a')
    expect(gathering.waitMs('a', 1000)).toBe(0)
  })
})
