import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { WritePace } from './apply.ts'

describe('WritePace', () => {
  test('leaves nothing at the signal of a term for writes that have waited', async () => {
    const clock = new VirtualClock()
    const pace = new WritePace(50, clock)
    const term = new AbortController()
    const turns = Array.from({ length: 1050 }, () => pace.turn(term.signal))
    // The first 50 writes do not wait, and the others are sent in the next 20 s.
    await clock.pass(20_000)
    await Promise.all(turns)
    // All waits share one listener.
    expect(getEventListeners(term.signal, 'abort').length).toBeLessThanOrEqual(1)
  })

  test('gives up a write that waits when the term ends', async () => {
    const pace = new WritePace(1, new VirtualClock())
    const term = new AbortController()
    await pace.turn(term.signal)
    const waiting = pace.turn(term.signal)
    term.abort(new Error('the term has ended'))
    await expect(waiting).rejects.toThrow('the term has ended')
  })
})
