import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Clock } from '../base/clock.ts'
import { startCompactor } from './compactor.ts'
import { openLmdbStore } from './drivers/lmdb.ts'
import type { Store, StoreEvent } from './store.ts'

const hourMs = 3_600_000

/** The wall clock of a machine: it can be set, while timers run on. */
class WallClock implements Clock {
  offsetMs = 0
  #elapsedMs = Date.UTC(2026, 0, 1)
  #timers = new Map<() => void, number>()

  now(): number {
    return this.#elapsedMs + this.offsetMs
  }

  after(delayMs: number, fn: () => void): () => void {
    this.#timers.set(fn, this.#elapsedMs + delayMs)
    return () => void this.#timers.delete(fn)
  }

  /** Lets time pass, and runs each timer that is due once. */
  pass(ms: number): void {
    this.#elapsedMs += ms
    for (const [fn, atMs] of Array.from(this.#timers)) {
      if (atMs > this.#elapsedMs) continue
      this.#timers.delete(fn)
      fn()
    }
  }
}

let dir: string
let clock: WallClock
let store: Store
let known: Map<string, string>

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'store-clock-'))
  clock = new WallClock()
  store = await openLmdbStore({ dir, clock })
  known = new Map()
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

let writes = 0
async function write(key: string): Promise<void> {
  const value = `write ${++writes}`
  const result = await store.write({ key, expected: (await store.get(key))?.revision ?? 0, value: Buffer.from(value) })
  expect(result.ok).toBe(true)
  known.set(key, value)
}

/** Lets time pass, and the compactor do what it does then. */
async function pass(ms: number): Promise<void> {
  clock.pass(ms)
  // Compactions run one after the other.
  await store.compact(0)
}

const contents = async () => new Map((await store.range('')).items.map(({ key, value }) => [key, value.toString()]))

async function reopen(): Promise<void> {
  await store.close()
  store = await openLmdbStore({ dir, clock })
}

describe('a store whose clock is set back', () => {
  it('keeps every acknowledged write, in the order in which they were made, also over restarts', async () => {
    const events: StoreEvent[] = []
    await store.watch('', 0, (some) => events.push(...some))
    for (const offsetMs of [0, -hourMs, 2 * hourMs, -24 * hourMs, 0]) {
      clock.offsetMs = offsetMs
      for (let i = 0; i < 5; i++) await write(`/k/${i}`)
    }
    expect(events.map(({ revision }) => revision)).toEqual(Array.from({ length: 25 }, (_, i) => i + 1))
    clock.offsetMs = -48 * hourMs
    await reopen()
    expect([store.revision, await contents()]).toEqual([25, known])
    await write('/k/0')
    expect(store.revision).toBe(26)
    expect(await contents()).toEqual(known)
  })

  it('never says that a later revision was made earlier', async () => {
    await write('/a')
    const before = clock.now()
    clock.offsetMs = -hourMs
    await write('/b')
    // Both have the later time, so that nothing is taken for older than it is.
    expect([store.revisionAt(before - 1), store.revisionAt(before)]).toEqual([undefined, 2])
  })

  it('forgets no history too early, and none for ever: by count at once, by age once the clock has caught up', async () => {
    const stop = startCompactor(store, { clock, maxAgeMs: 300_000, maxRevisions: 50, intervalMs: 60_000 })
    await write('/a')
    await write('/a')
    clock.offsetMs = -hourMs
    await write('/a')
    for (let minute = 0; minute < 10; minute++) await pass(60_000)
    expect(store.compactedRevision).toBe(0)
    for (let i = 0; i < 60; i++) await write('/a')
    await pass(60_000)
    expect(store.compactedRevision).toBe(13)
    for (let minute = 0; minute < 60; minute++) await pass(60_000)
    expect(store.compactedRevision).toBe(63)
    expect(await contents()).toEqual(known)
    stop()
  })
})
