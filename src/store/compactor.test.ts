import { describe, expect, it } from 'vitest'
import type { Clock } from '../base/clock.ts'
import { chooseCompaction, startCompactor } from './compactor.ts'
import type { HistoryKept } from './compactor.ts'
import { settled } from './conformance/scene.ts'
import { openMemoryStore } from './index.ts'
import type { Store } from './index.ts'

describe('chooseCompaction()', () => {
  it.each<[string, HistoryKept, number | undefined]>([
    ['keeps all while it is young and little', { revision: 50, compactedRevision: 0, expiredRevision: undefined }, undefined],
    ['forgets what is too old', { revision: 50, compactedRevision: 0, expiredRevision: 20 }, 20],
    ['forgets what is too much', { revision: 250, compactedRevision: 0, expiredRevision: undefined }, 150],
    ['takes the further of the two', { revision: 250, compactedRevision: 0, expiredRevision: 200 }, 200],
    ['does not forget twice', { revision: 250, compactedRevision: 200, expiredRevision: 200 }, undefined],
    ['does not go back', { revision: 250, compactedRevision: 240, expiredRevision: 20 }, undefined],
    ['may forget all history of an idle store', { revision: 50, compactedRevision: 20, expiredRevision: 50 }, 50],
  ])('%s', (_, kept, target) => {
    expect(chooseCompaction(kept, 100)).toBe(target)
  })
})

/** One timer at a time is all that a compactor sets. */
class OneTimer implements Clock {
  timeMs = 0
  due: { atMs: number; fn: () => void } | undefined
  now(): number {
    return this.timeMs
  }
  after(delayMs: number, fn: () => void): () => void {
    const due = { atMs: this.timeMs + delayMs, fn }
    this.due = due
    return () => {
      if (this.due === due) this.due = undefined
    }
  }
  async advance(ms: number): Promise<void> {
    const end = this.timeMs + ms
    for (let ran = 0; this.due && this.due.atMs <= end; ran++) {
      if (ran > 10_000) throw new Error('timers set each other without end')
      const { atMs, fn } = this.due
      this.due = undefined
      this.timeMs = atMs
      fn()
      await settled()
    }
    this.timeMs = end
  }
}

describe('startCompactor()', () => {
  const options = { maxAgeMs: 300_000, maxRevisions: 1000, intervalMs: 60_000 }
  const writeSome = async (store: Store, count: number): Promise<void> => {
    const prefix = `/${store.revision}/`
    const value = Buffer.alloc(1)
    await Promise.all(Array.from({ length: count }, (_, i) => store.write({ key: prefix + i, expected: 0, value })))
  }

  it('forgets by age and by count, and then leaves an idle store alone', async () => {
    const clock = new OneTimer()
    const store = openMemoryStore({ clock })
    startCompactor(store, { clock, ...options })
    await writeSome(store, 10)
    await clock.advance(240_000)
    expect(store.compactedRevision).toBe(0)
    await writeSome(store, 10)
    await clock.advance(120_000)
    expect(store.compactedRevision).toBe(10)
    await writeSome(store, 1500)
    await clock.advance(60_000)
    expect(store.compactedRevision).toBe(520)
    await clock.advance(600_000)
    expect(store.compactedRevision).toBe(1520)
  })

  it('stops', async () => {
    const clock = new OneTimer()
    const store = openMemoryStore({ clock })
    const stop = startCompactor(store, { clock, ...options })
    await writeSome(store, 2000)
    stop()
    await clock.advance(600_000)
    expect(store.compactedRevision).toBe(0)
    expect(clock.due).toBeUndefined()
  })

  it('reports a failure and tries again', async () => {
    const clock = new OneTimer()
    const failures: string[] = []
    let attempts = 0
    const compact = async (): Promise<void> => {
      if (attempts++ === 0) throw new Error('disk full')
    }
    const store = { revision: 5000, compactedRevision: 0, revisionAt: () => undefined, compact } as unknown as Store
    startCompactor(store, { clock, ...options, onError: ({ message }) => failures.push(message) })
    await clock.advance(120_000)
    expect({ failures, attempts }).toEqual({ failures: ['disk full'], attempts: 2 })
  })
})
