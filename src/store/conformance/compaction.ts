import { beforeEach, describe, expect, it } from 'vitest'
import { CompactedError, FutureRevisionError } from '../store.ts'
import type { StoreEvent } from '../store.ts'
import { keysOf, settled } from './scene.ts'
import type { Scene } from './scene.ts'

/** Checks which versions compaction removes and which it keeps. */
export function describeCompaction(sceneOf: () => Scene): void {
  let scene: Scene
  beforeEach(() => {
    scene = sceneOf()
  })

  describe('compact()', () => {
    /** Five revisions: create a, create b, update a, delete b, update a. */
    let at: number[]
    beforeEach(async () => {
      at = [await scene.put('/a', 'one'), await scene.put('/b', 'other')]
      at.push(await scene.put('/a', 'two', at[0]))
      at.push(await scene.remove('/b', at[1]!))
      at.push(await scene.put('/a', 'three', at[2]))
    })

    it('refuses what is older and keeps what was current then', async () => {
      await scene.store.compact(at[2]!)
      expect(scene.store.compactedRevision).toBe(at[2])
      await expect(scene.store.range('/', { revision: at[1]! })).rejects.toThrow(CompactedError)
      await expect(scene.store.watch('/', at[1]!, () => undefined)).rejects.toThrow(CompactedError)
      const then = await scene.store.range('/', { revision: at[2]! })
      expect(then.items.map(({ key, value }) => key + value.toString())).toEqual(['/atwo', '/bother'])
      const { calls } = await scene.collect('/', at[2])
      await settled()
      expect(calls.flat()).toEqual([
        {
          type: 'delete',
          key: '/b',
          revision: at[3],
          previous: { key: '/b', value: 'other', revision: at[1], createRevision: at[1] },
        },
        {
          type: 'put',
          key: '/a',
          revision: at[4],
          createRevision: at[0],
          value: 'three',
          previous: { key: '/a', value: 'two', revision: at[2], createRevision: at[0] },
        },
      ])
    })

    it('keeps the live state, the revision and the numbering when everything is forgotten', async () => {
      await scene.store.compact(at[4]!)
      expect(keysOf((await scene.store.range('/')).items)).toEqual(['/a'])
      const again = await scene.put('/b', 'again')
      expect(again).toBeGreaterThan(at[4]!)
      expect(await scene.store.get('/b')).toMatchObject({ createRevision: again })
      const removed = await scene.remove('/b', again)
      await scene.store.compact(removed)
      expect(await scene.store.get('/b')).toBeUndefined()
      expect(scene.store.revision).toBe(removed)
    })

    it('does nothing for what was forgotten before, and refuses the future', async () => {
      await scene.store.compact(at[3]!)
      await scene.store.compact(at[1]!)
      expect(scene.store.compactedRevision).toBe(at[3])
      await expect(scene.store.compact(at[4]! + 1000)).rejects.toThrow(FutureRevisionError)
    })

    it('leaves a live watch alone, and lets an event be looked at when it happens', async () => {
      const { calls, ended } = await scene.collect('/', at[4])
      await scene.store.compact(at[4]!)
      const revision = await scene.put('/a', 'four', at[4])
      expect(calls.flat()).toMatchObject([{ revision, previous: { value: 'three' } }])
      expect(ended).toEqual([])
    })

    it('gives what an event replaced, or throws once that is forgotten', async () => {
      const events: StoreEvent[] = []
      await scene.store.watch('/', at[4]!, (some) => events.push(...some))
      await scene.store.compact(await scene.put('/a', 'four', at[4]))
      const previous = () => events[0]!.previous?.value.toString()
      try {
        expect(previous()).toBe('three')
      } catch (e) {
        expect(e).toBeInstanceOf(CompactedError)
      }
    })

    it('runs beside writes and reads', async () => {
      const prefix = '/busy/'
      const revisions = await Promise.all(Array.from({ length: 1000 }, (_, i) => scene.put(`${prefix}${i}`, 'x')))
      await Promise.all(revisions.map((expected, i) => scene.put(`${prefix}${i}`, 'x', expected)))
      const compaction = scene.store.compact(scene.store.revision)
      const [result] = await Promise.all([scene.store.range(prefix), scene.put('/c', 'x'), compaction])
      expect(result.items).toHaveLength(1000)
      expect(await scene.store.get('/c')).toBeDefined()
    })
  })

  describe('revisionAt()', () => {
    it('knows the newest revision of a time, as far back as history goes', async () => {
      const times: number[] = []
      const at: number[] = []
      for (const key of ['/a', '/b', '/c', '/d']) {
        scene.clock.timeMs += 1000
        times.push(scene.clock.timeMs)
        at.push(await scene.put(key, 'x'))
      }
      expect(times.map((time) => scene.store.revisionAt(time))).toEqual(at)
      expect(scene.store.revisionAt(times[1]! + 999)).toBe(at[1])
      await scene.store.compact(at[2]!)
      expect(times.map((time) => scene.store.revisionAt(time))).toEqual([undefined, undefined, at[2], at[3]])
    })

    it('does not go back when the clock does', async () => {
      await scene.put('/a', 'x')
      const late = scene.clock.timeMs
      scene.clock.timeMs -= 60_000
      const revision = await scene.put('/b', 'x')
      expect(scene.store.revisionAt(late - 1) ?? 0).toBeLessThan(revision)
      expect(scene.store.revisionAt(late)).toBe(revision)
    })
  })
}
