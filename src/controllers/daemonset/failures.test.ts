import { describe, expect, it } from 'vitest'
import { failuresOf, waitMs, withFailures } from './failures.ts'

const seconds = (s: number) => s * 1000

describe('failed pods', () => {
  it('wait for a second, then twice as long each time, up to a quarter of an hour', () => {
    let failures = failuresOf(undefined, 1)
    let nowMs = 0
    const waits: number[] = []
    for (let i = 0; i < 12; i++) {
      failures = withFailures(failures, ['n1'], nowMs)
      waits.push(waitMs(failures, 'n1', nowMs) / 1000)
      nowMs += waitMs(failures, 'n1', nowMs)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
  })

  it('wait for what is left, on their node only', () => {
    const failures = withFailures(failuresOf(undefined, 1), ['n1'], 0)
    expect([waitMs(failures, 'n1', 400), waitMs(failures, 'n1', 1000), waitMs(failures, 'n2', 400)]).toEqual([600, 0, 0])
  })

  it('are forgotten after half an hour, and with a new generation', () => {
    const failures = withFailures(withFailures(failuresOf(undefined, 1), ['n1'], 0), ['n1'], 0)
    expect(waitMs(withFailures(failures, ['n1'], seconds(1800)), 'n1', seconds(1800))).toBe(4000)
    expect(waitMs(withFailures(failures, ['n1'], seconds(1801)), 'n1', seconds(1801))).toBe(1000)
    expect(withFailures(failures, [], seconds(1801)).nodes.size).toBe(0)
    expect(failuresOf(failures, 1)).toBe(failures)
    expect(failuresOf(failures, 2).nodes.size).toBe(0)
  })
})
