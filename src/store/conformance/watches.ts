import { beforeEach, describe, expect, it } from 'vitest'
import { StoreClosedError } from '../store.ts'
import { revisionsOf, settled } from './scene.ts'
import type { Scene } from './scene.ts'

/** What a watch is told, and in which order. */
export function describeWatches(sceneOf: () => Scene): void {
  let scene: Scene
  beforeEach(() => {
    scene = sceneOf()
  })

  describe('watch()', () => {
    it('delivers what happens from now on under its prefix', async () => {
      await scene.put('/a/1', 'before')
      const { calls } = await scene.collect('/a/', scene.store.revision)
      await scene.put('/a/2', 'new')
      await scene.put('/b/1', 'elsewhere')
      await scene.put('/a/2', 'changed', 2)
      await scene.remove('/a/2', 4)
      const previous = { key: '/a/2', revision: 2, createRevision: 2, value: 'new' }
      expect(calls).toEqual([
        [{ type: 'put', key: '/a/2', revision: 2, createRevision: 2, value: 'new', previous: undefined }],
        [{ type: 'put', key: '/a/2', revision: 4, createRevision: 2, value: 'changed', previous }],
        [{ type: 'delete', key: '/a/2', revision: 5, previous: { ...previous, revision: 4, value: 'changed' } }],
      ])
    })

    it('delivers history first and then goes on', async () => {
      await scene.put('/a', 'one')
      await scene.put('/a', 'two', 1)
      await scene.remove('/a', 2)
      const { calls } = await scene.collect('/', 1)
      await scene.put('/a', 'again')
      await settled()
      await scene.put('/b', 'live')
      expect(revisionsOf(calls)).toEqual([2, 3, 4, 5])
      expect(calls.flat()[2]).toMatchObject({ createRevision: 4, previous: undefined })
    })

    it('neither misses nor repeats an event while it catches up under load', async () => {
      const total = 3000
      const commitSome = (from: number): Promise<unknown> =>
        Promise.all(Array.from({ length: 100 }, (_, i) => scene.put(`/k/${from + i}`, 'x')))
      for (let from = 0; from < total / 2; from += 100) await commitSome(from)
      const { calls } = await scene.collect('/k/', 0)
      for (let from = total / 2; from < total; from += 100) await commitSome(from)
      await settled()
      expect(revisionsOf(calls)).toEqual(Array.from({ length: total }, (_, i) => i + 1))
    })

    it('delivers the events of one commit together, live and from history', async () => {
      const live = await scene.collect('/', 0)
      for (const round of ['first', 'second', 'third', 'fourth']) {
        await Promise.all(Array.from({ length: 200 }, (_, i) => scene.put(`/${round}/${i}`, 'x')))
      }
      const later = await scene.collect('/', 0)
      await settled()
      expect(live.calls.map((call) => call.length)).toEqual([200, 200, 200, 200])
      expect(later.calls.flat()).toHaveLength(800)
      // However history is cut, it is cut between commits.
      let seen = 0
      for (const call of later.calls) expect((seen += call.length) % 200).toBe(0)
    })

    it('delivers before it resolves the write', async () => {
      const order: string[] = []
      await scene.store.watch('/', 0, (events) => order.push(`event ${events[0]!.revision} at ${scene.store.revision}`))
      await scene.put('/a', 'x').then(() => order.push('resolved'))
      expect(order).toEqual(['event 1 at 1', 'resolved'])
    })

    it('waits for a revision that has not happened', async () => {
      const { calls } = await scene.collect('/', 2)
      for (const key of ['/a', '/b', '/c']) await scene.put(key, 'x')
      expect(revisionsOf(calls)).toEqual([3])
    })

    it('hears nothing once it is closed, even from within an event', async () => {
      let calls = 0
      const watch = await scene.store.watch('/', 0, () => {
        calls++
        watch.close()
      })
      await scene.put('/a', 'x')
      await scene.put('/b', 'x')
      expect(calls).toBe(1)
    })

    it('ends alone if its listener throws', async () => {
      const ended: Error[] = []
      await scene.store.watch('/', 0, () => { throw new Error('listener') }, (why) => ended.push(why))
      const other = await scene.collect('/', 0)
      expect(await scene.put('/a', 'x')).toEqual({ ok: true, revision: 1 })
      await scene.put('/b', 'x')
      expect(ended.map(({ message }) => message)).toEqual(['listener'])
      expect(other.calls).toHaveLength(2)
    })

    it('ends when the store is closed', async () => {
      const { ended } = await scene.collect('/', 0)
      await scene.store.close()
      expect(ended).toEqual([expect.any(StoreClosedError)])
    })
  })
}
