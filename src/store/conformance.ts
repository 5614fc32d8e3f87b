// Only tests import this file: the suite that every driver must pass.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Clock } from '../base/clock.ts'
import { CompactedError, FutureRevisionError, StoreClosedError } from './store.ts'
import type { Store, StoreEvent, Versioned, WriteResult } from './store.ts'

/** How the suite gets at a driver. */
export interface StoreUnderTest {
  open(clock: Clock): Promise<Store>
  /** Called after the store was closed. */
  remove(): Promise<void>
}

/** A clock that the test sets; nothing that a store does may need a timer of it. */
export class SetClock implements Clock {
  timeMs = 1_000_000
  now(): number {
    return this.timeMs
  }
  after(): () => void {
    throw new Error('a store sets no timers')
  }
}

export const bytes = (text: string): Buffer => Buffer.from(text)

/** Events as plain data, with what they replaced. */
export function plain(events: readonly StoreEvent[]): object[] {
  return events.map(({ previous, ...event }) => ({
    ...event,
    ...('value' in event ? { value: event.value.toString() } : {}),
    previous: previous && { ...previous, value: previous.value.toString() },
  }))
}

/** Lets everything run that is ready to. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/** Every promise of the Store interface, for any driver. */
export function describeStore(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`${name} store`, () => {
    let driver: StoreUnderTest
    let store: Store
    let clock: SetClock

    beforeEach(async () => {
      clock = new SetClock()
      driver = await make()
      store = await driver.open(clock)
    })

    afterEach(async () => {
      await store.close()
      await driver.remove()
    })

    const put = (key: string, value: string, expected = 0): Promise<WriteResult> => store.write({ key, expected, value: bytes(value) })
    const remove = (key: string, expected: number): Promise<WriteResult> => store.write({ key, expected, value: undefined })
    const keysOf = (items: Versioned[]): string[] => items.map(({ key }) => key)

    async function collect(prefix: string, from: number): Promise<{ calls: object[][]; ended: Error[]; close(): void }> {
      const calls: object[][] = []
      const ended: Error[] = []
      const watch = await store.watch(prefix, from, (events) => calls.push(plain(events)), (why) => ended.push(why))
      return { calls, ended, close: () => watch.close() }
    }

    describe('write()', () => {
      it('numbers writes from 1 and remembers where a key began', async () => {
        expect(store.revision).toBe(0)
        expect(await put('/a', 'one')).toEqual({ ok: true, revision: 1 })
        expect(await put('/b', 'other')).toEqual({ ok: true, revision: 2 })
        expect(await put('/a', 'two', 1)).toEqual({ ok: true, revision: 3 })
        expect(store.revision).toBe(3)
        expect(await store.get('/a')).toEqual({ key: '/a', value: bytes('two'), revision: 3, createRevision: 1 })
      })

      it('begins anew when a deleted key is created again', async () => {
        await put('/a', 'one')
        expect(await remove('/a', 1)).toEqual({ ok: true, revision: 2 })
        expect(await store.get('/a')).toBeUndefined()
        await put('/a', 'again')
        expect(await store.get('/a')).toEqual({ key: '/a', value: bytes('again'), revision: 3, createRevision: 3 })
      })

      it.each<[string, string, number, string | undefined, string | undefined]>([
        ['a create of what exists', '/a', 0, 'new', 'one'],
        ['an update of an older revision', '/a', 99, 'new', 'one'],
        ['an update of what does not exist', '/x', 1, 'new', undefined],
        ['an update of what was deleted', '/gone', 2, 'new', undefined],
        ['a delete of another revision', '/a', 7, undefined, 'one'],
        ['a delete of what does not exist', '/x', 0, undefined, undefined],
        ['a delete of what was deleted', '/gone', 3, undefined, undefined],
      ])('refuses %s and shows the current state', async (_, key, expected, value, current) => {
        await put('/a', 'one')
        await put('/gone', 'x')
        await remove('/gone', 2)
        const result = await store.write({ key, expected, value: value === undefined ? undefined : bytes(value) })
        expect(result.ok).toBe(false)
        expect(!result.ok && result.current?.value.toString()).toBe(current)
        expect(store.revision).toBe(3)
      })

      it('lets exactly one of many writers that expect the same win', async () => {
        await put('/a', 'zero')
        const results = await Promise.all(Array.from({ length: 20 }, (_, i) => put('/a', `writer ${i}`, 1)))
        expect(results.filter(({ ok }) => ok)).toEqual([{ ok: true, revision: 2 }])
        for (const result of results) if (!result.ok) expect(result.current).toMatchObject({ revision: 2, value: bytes('writer 0') })
      })

      it('refuses only once what won is durable', async () => {
        const order: string[] = []
        const won = put('/a', 'first').then(() => order.push('won'))
        const lost = put('/a', 'second').then(() => order.push(`lost at ${store.revision}`))
        await Promise.all([won, lost])
        expect(order).toEqual(['won', 'lost at 1'])
      })

      it('chains writes to one key that are made without waiting', async () => {
        const results = await Promise.all([put('/a', 'one'), put('/a', 'two', 1), remove('/a', 2), put('/a', 'three', 0)])
        expect(results).toEqual([1, 2, 3, 4].map((revision) => ({ ok: true, revision })))
        expect(await store.get('/a')).toMatchObject({ value: bytes('three'), createRevision: 4 })
      })

      it('resolves in the order of revisions', async () => {
        const order: number[] = []
        await Promise.all(
          Array.from({ length: 50 }, async (_, i) => {
            const result = await put(`/${i % 7}/${i}`, 'x')
            if (result.ok) order.push(result.revision)
          }),
        )
        expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i + 1))
      })

      it('shows nothing that is not durable', async () => {
        await put('/a', 'one')
        const writing = put('/a', 'two', 1)
        expect(store.revision).toBe(1)
        expect(await store.get('/a')).toMatchObject({ revision: 1 })
        await writing
        expect(await store.get('/a')).toMatchObject({ revision: 2 })
      })

      it('keeps any bytes, an empty value and a large one', async () => {
        const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
        const large = Buffer.alloc(3_000_000, 'large')
        await store.write({ key: '/all', expected: 0, value: all })
        await store.write({ key: '/empty', expected: 0, value: Buffer.alloc(0) })
        await store.write({ key: '/large', expected: 0, value: large })
        expect((await store.get('/all'))!.value.equals(all)).toBe(true)
        expect((await store.get('/empty'))!.value.length).toBe(0)
        expect((await store.get('/large'))!.value.equals(large)).toBe(true)
      })

      it('refuses a key that has no bytes of its own', async () => {
        await expect(put('/\ud800', 'x')).rejects.toThrow('not valid Unicode')
      })
    })

    describe('range()', () => {
      beforeEach(async () => {
        for (const key of ['/pods/b', '/pods/a', '/pods', '/podsets/a', '/pods/c', '/nodes/a']) await put(key, `value of ${key}`)
      })

      it('returns what starts with the prefix, in order', async () => {
        const { items, revision, remaining } = await store.range('/pods/')
        expect(keysOf(items)).toEqual(['/pods/a', '/pods/b', '/pods/c'])
        expect(items[0]).toEqual({ key: '/pods/a', value: bytes('value of /pods/a'), revision: 2, createRevision: 2 })
        expect({ revision, remaining }).toEqual({ revision: 6, remaining: 0 })
        expect(keysOf((await store.range('')).items)).toHaveLength(6)
        expect((await store.range('/x')).items).toEqual([])
      })

      it('sorts by bytes, not by UTF-16', async () => {
        const keys = ['/u/\u{10ffff}', '/u/\uffee', '/u/\ue000', '/u/\ud7ff', '/u/z', '/u/é']
        for (const key of keys) await put(key, 'x')
        const sorted = [...keys].sort((a, b) => Buffer.compare(bytes(a), bytes(b)))
        expect(keysOf((await store.range('/u/')).items)).toEqual(sorted)
        expect(keysOf((await store.range('/u/', { after: '/u/\uffee' })).items)).toEqual(['/u/\u{10ffff}'])
      })

      it.each<[string, { after?: string; limit?: number }, string[], number]>([
        ['a limit', { limit: 2 }, ['/pods/a', '/pods/b'], 1],
        ['a limit that is just enough', { limit: 3 }, ['/pods/a', '/pods/b', '/pods/c'], 0],
        ['a limit of 0, which is none', { limit: 0 }, ['/pods/a', '/pods/b', '/pods/c'], 0],
        ['a start behind a key', { after: '/pods/a' }, ['/pods/b', '/pods/c'], 0],
        ['a start behind a key that is not there', { after: '/pods/aa' }, ['/pods/b', '/pods/c'], 0],
        ['a start behind the last key', { after: '/pods/c' }, [], 0],
        ['a start before the prefix', { after: '/a' }, ['/pods/a', '/pods/b', '/pods/c'], 0],
        ['a start behind the prefix', { after: '/z' }, [], 0],
        ['a start and a limit', { after: '/pods/a', limit: 1 }, ['/pods/b'], 1],
      ])('takes %s', async (_, options, keys, remaining) => {
        const result = await store.range('/pods/', options)
        expect(keysOf(result.items)).toEqual(keys)
        expect(result.remaining).toBe(remaining)
      })

      it('reads as it was at an older revision', async () => {
        await remove('/pods/a', 2)
        await put('/pods/b', 'newer', 1)
        await put('/pods/d', 'late')
        const { items, revision } = await store.range('/pods/', { revision: 6 })
        expect(items.map(({ key, value }) => `${key}: ${value.toString()}`)).toEqual([
          '/pods/a: value of /pods/a', '/pods/b: value of /pods/b', '/pods/c: value of /pods/c',
        ])
        expect(revision).toBe(6)
        expect((await store.range('/pods/', { revision: 0 })).items).toEqual([])
      })

      it('counts what remains at that revision, in a large store', async () => {
        await Promise.all(Array.from({ length: 1000 }, (_, i) => put(`/many/${String(i).padStart(4, '0')}`, 'x')))
        const then = store.revision
        await Promise.all(Array.from({ length: 500 }, (_, i) => remove(`/many/${String(i * 2).padStart(4, '0')}`, then - 999 + i * 2)))
        expect(await store.range('/many/', { limit: 10 })).toMatchObject({ remaining: 490 })
        expect(await store.range('/many/', { limit: 10, revision: then })).toMatchObject({ remaining: 990, revision: then })
      })

      it('refuses a revision that has not happened', async () => {
        await expect(store.range('/pods/', { revision: 7 })).rejects.toThrow(FutureRevisionError)
      })
    })

    describe('watch()', () => {
      it('delivers what happens from now on under its prefix', async () => {
        await put('/a/1', 'before')
        const { calls } = await collect('/a/', store.revision)
        await put('/a/2', 'new')
        await put('/b/1', 'elsewhere')
        await put('/a/2', 'changed', 2)
        await remove('/a/2', 4)
        const previous = { key: '/a/2', revision: 2, createRevision: 2, value: 'new' }
        expect(calls).toEqual([
          [{ type: 'put', key: '/a/2', revision: 2, createRevision: 2, value: 'new', previous: undefined }],
          [{ type: 'put', key: '/a/2', revision: 4, createRevision: 2, value: 'changed', previous }],
          [{ type: 'delete', key: '/a/2', revision: 5, previous: { ...previous, revision: 4, value: 'changed' } }],
        ])
      })

      it('delivers history first and then goes on', async () => {
        await put('/a', 'one')
        await put('/a', 'two', 1)
        await remove('/a', 2)
        const { calls } = await collect('/', 1)
        const writing = put('/a', 'again')
        await writing
        await settled()
        await put('/b', 'live')
        expect(calls.flat().map((event) => (event as StoreEvent).revision)).toEqual([2, 3, 4, 5])
        expect(calls.flat()[2]).toMatchObject({ createRevision: 4, previous: undefined })
      })

      it('neither misses nor repeats an event while it catches up under load', async () => {
        const total = 3000
        const commitSome = (from: number): Promise<unknown> => Promise.all(Array.from({ length: 100 }, (_, i) => put(`/k/${from + i}`, 'x')))
        for (let from = 0; from < total / 2; from += 100) await commitSome(from)
        const { calls } = await collect('/k/', 0)
        for (let from = total / 2; from < total; from += 100) await commitSome(from)
        await settled()
        expect(calls.flat().map((event) => (event as StoreEvent).revision)).toEqual(Array.from({ length: total }, (_, i) => i + 1))
      })

      it('delivers the events of one commit together, live and from history', async () => {
        const live = await collect('/', 0)
        await Promise.all(Array.from({ length: 400 }, (_, i) => put(`/first/${i}`, 'x')))
        await Promise.all(Array.from({ length: 400 }, (_, i) => put(`/second/${i}`, 'x')))
        const later = await collect('/', 0)
        await settled()
        expect(live.calls.map((call) => call.length)).toEqual([400, 400])
        expect(later.calls.flat()).toHaveLength(800)
        // However history is cut, it is cut between commits.
        let seen = 0
        for (const call of later.calls) expect((seen += call.length) % 400).toBe(0)
      })

      it('delivers before it resolves the write', async () => {
        const order: string[] = []
        await store.watch('/', 0, (events) => order.push(`event ${events[0]!.revision} at ${store.revision}`))
        await put('/a', 'x').then(() => order.push('resolved'))
        expect(order).toEqual(['event 1 at 1', 'resolved'])
      })

      it('waits for a revision that has not happened', async () => {
        const { calls } = await collect('/', 2)
        for (const key of ['/a', '/b', '/c']) await put(key, 'x')
        expect(calls.flat().map((event) => (event as StoreEvent).revision)).toEqual([3])
      })

      it('hears nothing once it is closed, even from within an event', async () => {
        let calls = 0
        const watch = await store.watch('/', 0, () => {
          calls++
          watch.close()
        })
        await put('/a', 'x')
        await put('/b', 'x')
        expect(calls).toBe(1)
      })

      it('ends alone if its listener throws', async () => {
        const ended: Error[] = []
        await store.watch('/', 0, () => { throw new Error('listener') }, (why) => ended.push(why))
        const other = await collect('/', 0)
        expect(await put('/a', 'x')).toEqual({ ok: true, revision: 1 })
        await put('/b', 'x')
        expect(ended.map(({ message }) => message)).toEqual(['listener'])
        expect(other.calls).toHaveLength(2)
      })

      it('ends when the store is closed', async () => {
        const { ended } = await collect('/', 0)
        await store.close()
        expect(ended).toEqual([expect.any(StoreClosedError)])
      })
    })

    describe('compact()', () => {
      beforeEach(async () => {
        await put('/a', 'one')
        await put('/b', 'other')
        await put('/a', 'two', 1)
        await remove('/b', 2)
        await put('/a', 'three', 3)
      })

      it('refuses what is older and keeps what was current then', async () => {
        await store.compact(3)
        expect(store.compactedRevision).toBe(3)
        await expect(store.range('/', { revision: 2 })).rejects.toThrow(CompactedError)
        await expect(store.watch('/', 2, () => undefined)).rejects.toThrow(CompactedError)
        const then = await store.range('/', { revision: 3 })
        expect(then.items.map(({ key, value }) => key + value.toString())).toEqual(['/atwo', '/bother'])
        const { calls } = await collect('/', 3)
        await settled()
        expect(calls.flat()).toEqual([
          { type: 'delete', key: '/b', revision: 4, previous: { key: '/b', value: 'other', revision: 2, createRevision: 2 } },
          { type: 'put', key: '/a', revision: 5, createRevision: 1, value: 'three', previous: { key: '/a', value: 'two', revision: 3, createRevision: 1 } },
        ])
      })

      it('keeps the live state, the revision and the numbering when everything is forgotten', async () => {
        await store.compact(5)
        expect(keysOf((await store.range('/')).items)).toEqual(['/a'])
        expect(await put('/b', 'again')).toEqual({ ok: true, revision: 6 })
        expect(await store.get('/b')).toMatchObject({ createRevision: 6 })
        await remove('/b', 6)
        await store.compact(7)
        expect(await store.get('/b')).toBeUndefined()
        expect(store.revision).toBe(7)
      })

      it('does nothing for what was forgotten before, and refuses the future', async () => {
        await store.compact(4)
        await store.compact(2)
        expect(store.compactedRevision).toBe(4)
        await expect(store.compact(6)).rejects.toThrow(FutureRevisionError)
      })

      it('leaves a live watch alone, and lets an event be looked at when it happens', async () => {
        const { calls, ended } = await collect('/', 5)
        await store.compact(5)
        await put('/a', 'four', 5)
        expect(calls.flat()).toMatchObject([{ revision: 6, previous: { value: 'three' } }])
        expect(ended).toEqual([])
      })

      it('throws for what an event replaced once that is forgotten', async () => {
        const events: StoreEvent[] = []
        await store.watch('/', 5, (some) => events.push(...some))
        await put('/a', 'four', 5)
        await store.compact(6)
        expect(() => events[0]!.previous).toThrow(CompactedError)
      })

      it('runs beside writes and reads', async () => {
        const prefix = '/busy/'
        await Promise.all(Array.from({ length: 2000 }, (_, i) => put(`${prefix}${i % 1000}`, 'x', i < 1000 ? 0 : 5 + (i % 1000) + 1)))
        const compaction = store.compact(store.revision)
        const [result] = await Promise.all([store.range(prefix), put('/c', 'x'), compaction])
        expect(result.items).toHaveLength(1000)
        expect(await store.get('/c')).toBeDefined()
      })
    })

    describe('revisionAt()', () => {
      it('knows the newest revision of a time, as far back as history goes', async () => {
        const times: number[] = []
        for (const key of ['/a', '/b', '/c', '/d']) {
          clock.timeMs += 1000
          times.push(clock.timeMs)
          await put(key, 'x')
        }
        expect(times.map((time) => store.revisionAt(time))).toEqual([1, 2, 3, 4])
        expect(store.revisionAt(times[1]! + 999)).toBe(2)
        expect(store.revisionAt(times[0]! - 1)).toBeUndefined()
        await store.compact(3)
        expect(times.map((time) => store.revisionAt(time))).toEqual([undefined, undefined, 3, 4])
      })

      it('does not go back when the clock does', async () => {
        await put('/a', 'x')
        const late = clock.timeMs
        clock.timeMs -= 60_000
        await put('/b', 'x')
        expect(store.revisionAt(late - 1)).toBeUndefined()
        expect(store.revisionAt(late)).toBe(2)
      })
    })

    describe('close()', () => {
      it('completes the writes under way and refuses new ones', async () => {
        const writing = put('/a', 'x')
        const closing = store.close()
        await expect(put('/b', 'x')).rejects.toThrow(StoreClosedError)
        expect(await writing).toEqual({ ok: true, revision: 1 })
        await closing
        await expect(store.get('/a')).rejects.toThrow(StoreClosedError)
        await expect(store.range('/')).rejects.toThrow(StoreClosedError)
        await expect(store.watch('/', 0, () => undefined)).rejects.toThrow(StoreClosedError)
        await expect(store.compact(1)).rejects.toThrow(StoreClosedError)
        await store.close()
      })
    })

    it('says how many bytes it uses', async () => {
      const before = store.size()
      await put('/a', 'x'.repeat(100_000))
      expect(store.size() - before).toBeGreaterThanOrEqual(100_000)
    })
  })
}
