import { beforeEach, describe, expect, it } from 'vitest'
import { LoopDelay } from './loop-delay.ts'
import { MetricsRegistry } from './metrics.ts'
import { VirtualClock } from './virtual-clock.ts'

let clock: VirtualClock
let heldMs: number
let activeMs: number
let delay: LoopDelay
let metrics: MetricsRegistry

/** Time passes; meanwhile the loop is held for `ms` when the next timer is due. */
function held(ms: number): void {
  const timer = clock.nextAtMs! - clock.now()
  heldMs = ms
  activeMs += ms
  clock.advance(timer)
  heldMs = 0
  clock.advance(ms)
}

const series = (name: string) => Number(new RegExp(`^${name.replace(/[{}.+]/g, '\\$&')} (\\S+)$`, 'm').exec(metrics.text())![1])
const bucket = (le: string) => series(`coxswain_event_loop_delay_seconds_bucket{le="${le}"}`)

beforeEach(() => {
  clock = new VirtualClock(0)
  ;[heldMs, activeMs] = [0, 0]
  delay = new LoopDelay(clock, { nowMs: () => clock.now() + heldMs, activeMs: () => activeMs })
  metrics = new MetricsRegistry()
  delay.register(metrics)
})

describe('LoopDelay', () => {
  it('looks once a second while the loop has nothing to do', () => {
    clock.advance(60_000)
    expect(series('coxswain_event_loop_delay_seconds_count')).toBe(60)
    expect(bucket('0.005')).toBe(60)
  })

  it('looks fifty times a second for a while once it has', () => {
    clock.advance(1000)
    held(30)
    const before = series('coxswain_event_loop_delay_seconds_count')
    clock.advance(1000)
    expect(series('coxswain_event_loop_delay_seconds_count') - before).toBeGreaterThanOrEqual(48)
    clock.advance(60_000)
    const later = series('coxswain_event_loop_delay_seconds_count')
    clock.advance(10_000)
    expect(series('coxswain_event_loop_delay_seconds_count') - later).toBe(10)
  })

  it('counts who would have come while the loop was held', () => {
    held(200)
    const above = (le: string) => series('coxswain_event_loop_delay_seconds_count') - bucket(le)
    expect([above('0.05'), above('0.1'), above('0.25')]).toEqual([8, 5, 0]) // 200, 180 … 60
  })

  it('remembers the longest of the last minute', () => {
    held(200)
    held(70)
    expect(series('coxswain_event_loop_delay_max_seconds')).toBe(0.2)
    clock.advance(30_000)
    expect(delay.longestMs).toBe(200)
    clock.advance(40_000)
    expect(delay.longestMs).toBe(0)
  })

  it('ends', () => {
    delay.stop()
    expect(clock.pending).toBe(0)
  })
})
