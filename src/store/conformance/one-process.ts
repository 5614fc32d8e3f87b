import { beforeEach, describe, expect, it } from 'vitest'
import { bytes, settled } from './scene.ts'
import type { Scene } from './scene.ts'

/** Tests the guarantees of a store that only this process writes to. */
export function describeOneProcess(sceneOf: () => Scene): void {
  let scene: Scene
  beforeEach(() => {
    scene = sceneOf()
  })

  describe('of one process', () => {
    it('numbers writes from 1', async () => {
      expect(scene.store.revision).toBe(0)
      expect([await scene.put('/a', 'one'), await scene.put('/b', 'x'), await scene.put('/a', 'two', 1)]).toEqual([
        1, 2, 3,
      ])
    })

    it('refuses only once what won is durable', async () => {
      const order: string[] = []
      const won = scene.tryPut('/a', 'first').then(() => order.push('won'))
      const lost = scene.tryPut('/a', 'second').then(() => order.push(`lost at ${scene.store.revision}`))
      await Promise.all([won, lost])
      expect(order).toEqual(['won', 'lost at 1'])
    })

    it('chains writes to one key that are made without waiting', async () => {
      const results = await Promise.all([
        scene.put('/a', 'one'),
        scene.put('/a', 'two', 1),
        scene.remove('/a', 2),
        scene.put('/a', 'three', 0),
      ])
      expect(results).toEqual([1, 2, 3, 4])
      expect(await scene.store.get('/a')).toMatchObject({ value: bytes('three'), createRevision: 4 })
    })

    it('resolves in the order of revisions', async () => {
      const order: number[] = []
      await Promise.all(Array.from({ length: 50 }, async (_, i) => order.push(await scene.put(`/${i % 7}/${i}`, 'x'))))
      expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i + 1))
    })

    it('lets the first of many writers that expect the same win', async () => {
      await scene.put('/a', 'zero')
      const results = await Promise.all(Array.from({ length: 20 }, (_, i) => scene.tryPut('/a', `writer ${i}`, 1)))
      expect(results.map(({ ok }) => ok)).toEqual(results.map((_, i) => i === 0))
    })

    it('shows nothing that is not durable', async () => {
      await scene.put('/a', 'one')
      const writing = scene.put('/a', 'two', 1)
      expect(scene.store.revision).toBe(1)
      expect(await scene.store.get('/a')).toMatchObject({ revision: 1 })
      await writing
      expect(await scene.store.get('/a')).toMatchObject({ revision: 2 })
    })

    it('keeps a value of 3 MB', async () => {
      const large = Buffer.alloc(3_000_000, 'large')
      await scene.store.write({ key: '/large', expected: 0, value: large })
      expect((await scene.store.get('/large'))!.value.equals(large)).toBe(true)
    })

    it('delivers the events of one commit together, live and from history', async () => {
      const live = await scene.collect('/')
      for (const round of ['first', 'second', 'third', 'fourth']) {
        await Promise.all(Array.from({ length: 200 }, (_, i) => scene.put(`/${round}/${i}`, 'x')))
      }
      const later = await scene.collect('/')
      await settled()
      expect(live.calls.map((call) => call.length)).toEqual([200, 200, 200, 200])
      expect(later.calls.flat()).toHaveLength(800)
      // History is always truncated between commits.
      let seen = 0
      for (const call of later.calls) expect((seen += call.length) % 200).toBe(0)
    })

    it('waits for a revision that has not happened', async () => {
      const { calls } = await scene.collect('/', 2)
      for (const key of ['/a', '/b', '/c']) await scene.put(key, 'x')
      expect(calls.flat()).toMatchObject([{ revision: 3 }])
    })

    it('throws for what an event replaced once that is forgotten', async () => {
      await scene.put('/a', 'one')
      const calls: (() => unknown)[] = []
      await scene.store.watch('/', 1, ([event]) => calls.push(() => event!.previous))
      await scene.put('/a', 'two', 1)
      await scene.store.compact(2)
      expect(calls[0]).toThrow('compacted')
    })

    it('says how many bytes it uses', async () => {
      const before = scene.store.size()
      await scene.put('/a', 'x'.repeat(100_000))
      expect(scene.store.size() - before).toBeGreaterThanOrEqual(100_000)
    })
  })
}
