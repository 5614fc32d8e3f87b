import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SetClock, plain, settled } from './conformance/scene.ts'
import { CompactedError, FutureRevisionError, openLmdbStore, openMemoryStore } from './index.ts'
import type { Store, Versioned, Watch, Write } from './index.ts'
import { StoreModel } from './store-model.ts'

type Expectation = 'current' | 'absent' | 'stale'

type Step =
  | { do: 'write'; ops: { key: string; expect: Expectation; value: string | undefined }[] }
  | { do: 'get'; key: string }
  | { do: 'range'; prefix: string; back: number; after: string | undefined; limit: number | undefined }
  | { do: 'watch'; prefix: string; back: number }
  | { do: 'unwatch'; which: number }
  | { do: 'compact'; back: number }
  | { do: 'wait'; ms: number }
  | { do: 'reopen' }

const key = fc.constantFrom('/a', '/a/1', '/a/2', '/a/\ue000', '/a/\u{1f600}', '/b/1', '/b/10', '/b/2', '/c')
const prefix = fc.constantFrom('', '/', '/a', '/a/', '/b/1', '/c', '/x')
const value = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), fc.constant('large '.repeat(700)))
const op = fc.record({
  key,
  expect: fc.constantFrom<Expectation>('current', 'current', 'current', 'absent', 'stale'),
  value: fc.option(value, { nil: undefined, freq: 4 }),
})
const back = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max })
const range = fc.record({
  do: fc.constant('range' as const),
  prefix,
  back: back(-1, 15),
  after: fc.option(key, { nil: undefined }),
  limit: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('write' as const), ops: fc.array(op, { minLength: 1, maxLength: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('get' as const), key }) },
  { weight: 3, arbitrary: range },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('watch' as const), prefix, back: back(-2, 15) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unwatch' as const), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), back: back(-1, 10) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: -50, max: 1000 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
)

interface Watching {
  prefix: string
  from: number
  seen: object[]
  handle: Watch
}

/** Runs a history against a store and the model at once. */
class Run {
  #model = new StoreModel()
  #clock = new SetClock()
  #open: (clock: SetClock) => Promise<Store>
  #store: Store
  #canReopen: boolean
  #watches: Watching[] = []
  /** The store's own time, which does not go back: that of the last write that was taken. */
  #latestMs = 0

  private constructor(store: Store, clock: SetClock, open: (clock: SetClock) => Promise<Store>, canReopen: boolean) {
    this.#store = store
    this.#clock = clock
    this.#open = open
    this.#canReopen = canReopen
  }

  static async start(open: (clock: SetClock) => Promise<Store>, canReopen: boolean): Promise<Run> {
    const clock = new SetClock()
    return new Run(await open(clock), clock, open, canReopen)
  }

  async check(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      await this.#take(step)
      await settled()
      this.#checkWatches()
      expect(this.#store.revision).toBe(this.#model.revision)
      expect(this.#store.compactedRevision).toBe(this.#model.compactedRevision)
      for (const timeMs of [this.#latestMs - 1, this.#latestMs, this.#clock.timeMs - 500]) {
        expect(this.#store.revisionAt(timeMs)).toBe(this.#model.revisionAt(timeMs))
      }
    }
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #take(step: Step): Promise<void> {
    const model = this.#model
    switch (step.do) {
      case 'write':
        return this.#write(step.ops)
      case 'get': {
        const got = await this.#store.get(step.key)
        expect(got && readable(got)).toEqual(model.current(step.key))
        return
      }
      case 'range':
        return this.#range(step.prefix, Math.max(0, model.revision - step.back), step.after, step.limit)
      case 'watch':
        return this.#watch(step.prefix, Math.max(0, model.revision - step.back))
      case 'unwatch':
        this.#watches.splice(step.which, 1)[0]?.handle.close()
        return
      case 'compact': {
        const revision = Math.max(0, model.revision - step.back)
        if (revision > model.revision) {
          await expect(this.#store.compact(revision)).rejects.toThrow(FutureRevisionError)
          return
        }
        await this.#store.compact(revision)
        model.compactedRevision = Math.max(model.compactedRevision, revision)
        return
      }
      case 'wait':
        this.#clock.timeMs += step.ms
        return
      case 'reopen':
        if (!this.#canReopen) return
        await this.#store.close()
        this.#watches = []
        this.#store = await this.#open(this.#clock)
    }
  }

  /** All at once: what the later ones find depends on the earlier ones, durable or not. */
  async #write(ops: { key: string; expect: Expectation; value: string | undefined }[]): Promise<void> {
    const nowMs = Math.max(this.#latestMs, this.#clock.timeMs)
    const expected: object[] = []
    const results = ops.map((op) => {
      const current = this.#model.current(op.key)?.revision ?? 0
      const write: Write = {
        key: op.key,
        expected: op.expect === 'current' ? current : op.expect === 'absent' ? 0 : Math.max(0, current - 1),
        value: op.value === undefined ? undefined : Buffer.from(op.value),
      }
      const result = this.#model.write(write, nowMs)
      if (result.ok) this.#latestMs = nowMs
      expected.push(result)
      return this.#store.write(write)
    })
    const got = await Promise.all(results)
    expect(got.map((result) => (result.ok ? result : { ok: false, current: result.current && readable(result.current) }))).toEqual(expected)
  }

  async #range(prefix: string, revision: number, after: string | undefined, limit: number | undefined): Promise<void> {
    const reading = this.#store.range(prefix, { revision, after, limit })
    if (revision > this.#model.revision) await expect(reading).rejects.toThrow(FutureRevisionError)
    else if (revision < this.#model.compactedRevision) await expect(reading).rejects.toThrow(CompactedError)
    else {
      const { items, remaining, revision: read } = await reading
      expect({ items: items.map(readable), remaining }).toEqual(this.#model.range(prefix, revision, after, limit))
      expect(read).toBe(revision)
    }
  }

  async #watch(prefix: string, from: number): Promise<void> {
    const seen: object[] = []
    const watching = this.#store.watch(prefix, from, (events) => seen.push(...plain(events)))
    if (from < this.#model.compactedRevision) await expect(watching).rejects.toThrow(CompactedError)
    else this.#watches.push({ prefix, from, seen, handle: await watching })
  }

  #checkWatches(): void {
    for (const { prefix, from, seen } of this.#watches) expect(seen).toEqual(this.#model.eventsAfter(from, prefix))
  }
}

function readable(version: Versioned): object {
  return { ...version, value: version.value.toString() }
}

/** Found once: a write that is refused takes no time with it. */
const examples: [Step[]][] = [
  [
    [
      { do: 'write', ops: [{ key: '/a', expect: 'current', value: undefined }] },
      { do: 'wait', ms: -1 },
      { do: 'write', ops: [{ key: '/a', expect: 'current', value: '' }] },
    ],
  ],
]

type Open = (dir: string, clock: SetClock) => Promise<Store>

async function checkHistories(numRuns: number, open: Open, canReopen: boolean): Promise<void> {
  const histories = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
    const dir = mkdtempSync(join(tmpdir(), 'store-'))
    const run = await Run.start((clock) => open(dir, clock), canReopen)
    try {
      await run.check(steps)
    } finally {
      await run.close()
      rmSync(dir, { recursive: true })
    }
  })
  await fc.assert(histories, { numRuns, examples })
}

describe('any history gives what the model gives', () => {
  const memory: Open = async (_, clock) => openMemoryStore({ clock })
  const lmdb: Open = (dir, clock) => openLmdbStore({ dir, clock })
  it('in memory', () => checkHistories(300, memory, false), 60_000)
  it('in LMDB, closed and opened again now and then', () => checkHistories(100, lmdb, true), 60_000)
})
