import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { LagMeter, defaultLagLimits } from './lag.ts'

function meter() {
  const clock = new VirtualClock()
  return { clock, lag: new LagMeter('pods', clock, defaultLagLimits) }
}

describe('LagMeter', () => {
  test('has a problem until the first list', () => {
    const { lag } = meter()
    expect(lag.problem()).toBe('informer pods has not completed its first list')
    lag.heard('5')
    expect(lag.problem()).toBeUndefined()
  })

  test('counts from the oldest write that has not been seen', () => {
    const { clock, lag } = meter()
    lag.heard('5')
    lag.noteWrite('7')
    clock.advance(3000)
    lag.noteWrite('6')
    clock.advance(1000)
    expect(lag.unseenWriteSeconds()).toBe(4)
    lag.heard('6')
    expect(lag.unseenWriteSeconds()).toBe(4)
    lag.heard('7')
    expect(lag.unseenWriteSeconds()).toBe(0)
  })

  test('compares versions as numbers', () => {
    const { clock, lag } = meter()
    lag.heard('9')
    lag.noteWrite('10')
    clock.advance(1000)
    expect(lag.unseenWriteSeconds()).toBe(1)
  })

  test.each(['', 'abc', '5', '4'])('passes over a write at %j', (resourceVersion) => {
    const { clock, lag } = meter()
    lag.heard('5')
    lag.noteWrite(resourceVersion)
    clock.advance(60_000)
    expect(lag.unseenWriteSeconds()).toBe(0)
  })

  test('has a problem with a write that was not seen for more than 10 s', () => {
    const { clock, lag } = meter()
    lag.heard('5')
    lag.noteWrite('6')
    clock.advance(10_000)
    expect(lag.problem()).toBeUndefined()
    clock.advance(1000)
    expect(lag.problem()).toBe('informer pods has not seen a write of 11 s ago')
    lag.heard('6')
    expect(lag.problem()).toBeUndefined()
  })

  test('has a problem with a silence of more than 150 s', () => {
    const { clock, lag } = meter()
    lag.heard('5')
    clock.advance(150_000)
    expect(lag.problem()).toBeUndefined()
    clock.advance(1000)
    expect([lag.silentSeconds(), lag.problem()]).toEqual([151, 'informer pods has heard nothing for 151 s'])
    lag.heard('5')
    expect([lag.silentSeconds(), lag.problem()]).toEqual([0, undefined])
  })

  test('takes a watch that was accepted for a sign of life, where no bookmark has ever come', () => {
    const { clock, lag } = meter()
    lag.heard('5')
    clock.advance(120_000)
    lag.opened()
    clock.advance(150_000)
    expect([lag.silentSeconds(), lag.problem()]).toEqual([270, undefined])
    clock.advance(1000)
    expect(lag.problem()).toBe('informer pods has heard nothing for 151 s')
  })

  test('expects bookmarks of a server that has sent one: a second watch that is silent says nothing', () => {
    const { clock, lag } = meter()
    lag.heard('5', true)
    clock.advance(120_000)
    lag.opened()
    clock.advance(120_000)
    lag.opened()
    expect(lag.problem()).toBeUndefined()
    clock.advance(31_000)
    expect(lag.problem()).toBe('informer pods has heard nothing for 151 s')
    lag.heard('5', true)
    clock.advance(120_000)
    lag.opened()
    clock.advance(60_000)
    expect(lag.problem()).toBeUndefined()
  })

  test('has a problem with a write that was not seen, though a watch was accepted since', () => {
    const { clock, lag } = meter()
    lag.heard('5')
    lag.noteWrite('6')
    clock.advance(9000)
    lag.opened()
    clock.advance(2000)
    expect(lag.problem()).toBe('informer pods has not seen a write of 11 s ago')
  })
})
