import { describe, expect, it } from 'vitest'
import { Stopwatch, latenciesOf, withOmitted } from './latencies.ts'

describe('withOmitted()', () => {
  it.each<[string, number[], number[]]>([
    ['fast answers stand for themselves', [1, 2, 50], [1, 2, 50]],
    ['a slow one stands for those that could not be sent', [170], [170, 120, 70, 20]],
    ['nothing asked, nothing told', [], []],
  ])('%s', (_, times, all) => {
    expect(withOmitted(times, 50)).toEqual(all)
  })

  it('shows a server that stands still in its p99', () => {
    const times = [...Array.from({ length: 200 }, () => 1), 5000]
    expect(latenciesOf(times)!.p50).toBe(1)
    expect(latenciesOf(times)!.p99).toBe(1)
    expect(latenciesOf(withOmitted(times, 50))!.p99).toBeGreaterThan(4000)
  })
})

describe('Stopwatch', () => {
  it('counts what is under way with its time so far', () => {
    const watch = new Stopwatch(Number.POSITIVE_INFINITY)
    watch.stop(watch.start(0), 10)
    watch.start(20)
    expect(watch.read(120)).toEqual({ p50: 100, p99: 100, max: 100, count: 2 })
  })

  it('counts from a reset on, what is under way included', () => {
    const watch = new Stopwatch(1000)
    watch.stop(watch.start(0), 500)
    const open = watch.start(600)
    watch.reset(900)
    watch.stop(open, 930)
    expect(watch.read(930)).toEqual({ p50: 30, p99: 30, max: 30, count: 1 })
  })

  it('tells nothing of nothing', () => {
    const watch = new Stopwatch(50)
    watch.cancel(watch.start(0))
    expect(watch.read(100)).toBeUndefined()
  })
})
