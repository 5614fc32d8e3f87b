import { beforeEach, describe, expect, it } from 'vitest'
import { CompactedError, FutureRevisionError } from '../store.ts'
import type { StoreEvent } from '../store.ts'
import { keysOf, settled } from './scene.ts'
import type { Scene } from './scene.ts'

/** What is forgotten and what stays. */
export function describeCompaction(sceneOf: () => Scene): void {
  let scene: Scene
  beforeEach(() => {
    scene = sceneOf()
  })

  describe('compact()', () => {
    beforeEach(async () => {
      await scene.put('/a', 'one')
      await scene.put('/b', 'other')
      await scene.put('/a', 'two', 1)
      await scene.remove('/b', 2)
      await scene.put('/a', 'three', 3)
    })

    it('refuses what is older and keeps what was current then', async () => {
      await scene.store.compact(3)
      expect(scene.store.compactedRevision).toBe(3)
      await expect(scene.store.range('/', { revision: 2 })).rejects.toThrow(CompactedError)
      await expect(scene.store.watch('/', 2, () => undefined)).rejects.toThrow(CompactedError)
      const then = await scene.store.range('/', { revision: 3 })
      expect(then.items.map(({ key, value }) => key + value.toString())).toEqual(['/atwo', '/bother'])
      const { calls } = await scene.collect('/', 3)
      await settled()
      expect(calls.flat()).toEqual([
        { type: 'delete', key: '/b', revision: 4, previous: { key: '/b', value: 'other', revision: 2, createRevision: 2 } },
        {
          type: 'put', key: '/a', revision: 5, createRevision: 1, value: 'three',
          previous: { key: '/a', value: 'two', revision: 3, createRevision: 1 },
        },
      ])
    })

    it('keeps the live state, the revision and the numbering when everything is forgotten', async () => {
      await scene.store.compact(5)
      expect(keysOf((await scene.store.range('/')).items)).toEqual(['/a'])
      expect(await scene.put('/b', 'again')).toEqual({ ok: true, revision: 6 })
      expect(await scene.store.get('/b')).toMatchObject({ createRevision: 6 })
      await scene.remove('/b', 6)
      await scene.store.compact(7)
      expect(await scene.store.get('/b')).toBeUndefined()
      expect(scene.store.revision).toBe(7)
    })

    it('does nothing for what was forgotten before, and refuses the future', async () => {
      await scene.store.compact(4)
      await scene.store.compact(2)
      expect(scene.store.compactedRevision).toBe(4)
      await expect(scene.store.compact(6)).rejects.toThrow(FutureRevisionError)
    })

    it('leaves a live watch alone, and lets an event be looked at when it happens', async () => {
      const { calls, ended } = await scene.collect('/', 5)
      await scene.store.compact(5)
      await scene.put('/a', 'four', 5)
      expect(calls.flat()).toMatchObject([{ revision: 6, previous: { value: 'three' } }])
      expect(ended).toEqual([])
    })

    it('throws for what an event replaced once that is forgotten', async () => {
      const events: StoreEvent[] = []
      await scene.store.watch('/', 5, (some) => events.push(...some))
      await scene.put('/a', 'four', 5)
      await scene.store.compact(6)
      expect(() => events[0]!.previous).toThrow(CompactedError)
    })

    it('runs beside writes and reads', async () => {
      const prefix = '/busy/'
      // Twice each of a thousand keys, whose first revisions are 6 to 1005.
      const expected = (i: number): number => (i < 1000 ? 0 : i - 994)
      await Promise.all(Array.from({ length: 2000 }, (_, i) => scene.put(`${prefix}${i % 1000}`, 'x', expected(i))))
      const compaction = scene.store.compact(scene.store.revision)
      const [result] = await Promise.all([scene.store.range(prefix), scene.put('/c', 'x'), compaction])
      expect(result.items).toHaveLength(1000)
      expect(await scene.store.get('/c')).toBeDefined()
    })
  })

  describe('revisionAt()', () => {
    it('knows the newest revision of a time, as far back as history goes', async () => {
      const times: number[] = []
      for (const key of ['/a', '/b', '/c', '/d']) {
        scene.clock.timeMs += 1000
        times.push(scene.clock.timeMs)
        await scene.put(key, 'x')
      }
      expect(times.map((time) => scene.store.revisionAt(time))).toEqual([1, 2, 3, 4])
      expect(scene.store.revisionAt(times[1]! + 999)).toBe(2)
      expect(scene.store.revisionAt(times[0]! - 1)).toBeUndefined()
      await scene.store.compact(3)
      expect(times.map((time) => scene.store.revisionAt(time))).toEqual([undefined, undefined, 3, 4])
    })

    it('does not go back when the clock does', async () => {
      await scene.put('/a', 'x')
      const late = scene.clock.timeMs
      scene.clock.timeMs -= 60_000
      await scene.put('/b', 'x')
      expect(scene.store.revisionAt(late - 1)).toBeUndefined()
      expect(scene.store.revisionAt(late)).toBe(2)
    })
  })
}
