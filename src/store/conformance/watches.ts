import { beforeEach, describe, expect, it } from 'vitest'
import { StoreClosedError } from '../store.ts'
import { revisionsOf, settled } from './scene.ts'
import type { Scene } from './scene.ts'

/** Tests the events of watches and their order. */
export function describeWatches(sceneOf: () => Scene): void {
  let scene: Scene
  beforeEach(() => {
    scene = sceneOf()
  })

  describe('watch()', () => {
    it('delivers what happens from now on under its prefix', async () => {
      await scene.put('/a/1', 'before')
      const { calls } = await scene.collect('/a/', scene.store.revision)
      const created = await scene.put('/a/2', 'new')
      await scene.put('/b/1', 'elsewhere')
      const changed = await scene.put('/a/2', 'changed', created)
      const removed = await scene.remove('/a/2', changed)
      const previous = { key: '/a/2', revision: created, createRevision: created, value: 'new' }
      expect(calls).toEqual([
        [{ type: 'put', key: '/a/2', revision: created, createRevision: created, value: 'new', previous: undefined }],
        [{ type: 'put', key: '/a/2', revision: changed, createRevision: created, value: 'changed', previous }],
        [
          {
            type: 'delete',
            key: '/a/2',
            revision: removed,
            previous: { ...previous, revision: changed, value: 'changed' },
          },
        ],
      ])
    })

    it('delivers history first and then goes on', async () => {
      const first = await scene.put('/a', 'one')
      const second = await scene.put('/a', 'two', first)
      const third = await scene.remove('/a', second)
      const { calls } = await scene.collect('/', first)
      const again = await scene.put('/a', 'again')
      await settled()
      const live = await scene.put('/b', 'live')
      expect(revisionsOf(calls)).toEqual([second, third, again, live])
      expect(calls.flat()[2]).toMatchObject({ createRevision: again, previous: undefined })
    })

    it('neither misses nor repeats an event while it catches up under load', async () => {
      const total = 3000
      const revisions: number[] = []
      const commitSome = async (from: number): Promise<void> => {
        revisions.push(...(await Promise.all(Array.from({ length: 100 }, (_, i) => scene.put(`/k/${from + i}`, 'x')))))
      }
      for (let from = 0; from < total / 2; from += 100) await commitSome(from)
      const { calls } = await scene.collect('/k/')
      for (let from = total / 2; from < total; from += 100) await commitSome(from)
      await settled()
      expect(revisionsOf(calls)).toEqual(revisions.toSorted((a, b) => a - b))
    })

    it('delivers before it resolves the write', async () => {
      const order: string[] = []
      await scene.store.watch('/', scene.start, ([event]) =>
        order.push(`event ${event!.revision} at ${scene.store.revision}`),
      )
      const revision = await scene.put('/a', 'x')
      order.push('resolved')
      expect(order).toEqual([`event ${revision} at ${revision}`, 'resolved'])
    })

    it('hears nothing once it is closed, even from within an event', async () => {
      let calls = 0
      const watch = await scene.store.watch('/', scene.start, () => {
        calls++
        watch.close()
      })
      await scene.put('/a', 'x')
      await scene.put('/b', 'x')
      expect(calls).toBe(1)
    })

    it('ends alone if its listener throws', async () => {
      const ended: Error[] = []
      await scene.store.watch(
        '/',
        scene.start,
        () => {
          throw new Error('listener')
        },
        (why) => ended.push(why),
      )
      const other = await scene.collect('/')
      await scene.put('/a', 'x')
      await scene.put('/b', 'x')
      expect(ended.map(({ message }) => message)).toEqual(['listener'])
      expect(other.calls).toHaveLength(2)
    })

    it('ends when the store is closed', async () => {
      const { ended } = await scene.collect('/')
      await scene.store.close()
      expect(ended).toEqual([expect.any(StoreClosedError)])
    })
  })
}
