import { beforeEach, describe, expect, it } from 'vitest'
import { bytes, settled } from './scene.ts'
import type { Scene } from './scene.ts'

/** Who may write what, and when it counts. */
export function describeWrites(sceneOf: () => Scene): void {
  let scene: Scene
  beforeEach(() => {
    scene = sceneOf()
  })

  describe('write()', () => {
    it('numbers writes from 1 and remembers where a key began', async () => {
      expect(scene.store.revision).toBe(0)
      expect(await scene.put('/a', 'one')).toEqual({ ok: true, revision: 1 })
      expect(await scene.put('/b', 'other')).toEqual({ ok: true, revision: 2 })
      expect(await scene.put('/a', 'two', 1)).toEqual({ ok: true, revision: 3 })
      expect(scene.store.revision).toBe(3)
      expect(await scene.store.get('/a')).toEqual({ key: '/a', value: bytes('two'), revision: 3, createRevision: 1 })
    })

    it('keeps the mark of each version, and has none where none was given', async () => {
      const marks = [undefined, 1, 0xffffff]
      const value = bytes('x')
      for (const [expected, mark] of marks.entries()) await scene.store.write({ key: '/a', expected, value, mark })
      expect((await scene.store.get('/a'))!.mark).toBe(0xffffff)
      const markAt = async (revision: number) => (await scene.store.range('/', { revision })).items[0]!.mark
      expect([await markAt(1), await markAt(2), await markAt(3)]).toEqual(marks)
      const { calls } = await scene.collect('/', 0)
      await settled()
      expect(calls.flat()).toMatchObject([
        { mark: undefined, previous: undefined },
        { mark: 1, previous: { mark: undefined } },
        { mark: 0xffffff, previous: { mark: 1 } },
      ])
    })

    it('begins anew when a deleted key is created again', async () => {
      await scene.put('/a', 'one')
      expect(await scene.remove('/a', 1)).toEqual({ ok: true, revision: 2 })
      expect(await scene.store.get('/a')).toBeUndefined()
      await scene.put('/a', 'again')
      expect(await scene.store.get('/a')).toEqual({ key: '/a', value: bytes('again'), revision: 3, createRevision: 3 })
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
      await scene.put('/a', 'one')
      await scene.put('/gone', 'x')
      await scene.remove('/gone', 2)
      const result = await scene.store.write({ key, expected, value: value === undefined ? undefined : bytes(value) })
      expect(result.ok).toBe(false)
      expect(!result.ok && result.current?.value.toString()).toBe(current)
      expect(scene.store.revision).toBe(3)
    })

    it('lets exactly one of many writers that expect the same win', async () => {
      await scene.put('/a', 'zero')
      const results = await Promise.all(Array.from({ length: 20 }, (_, i) => scene.put('/a', `writer ${i}`, 1)))
      expect(results.filter(({ ok }) => ok)).toEqual([{ ok: true, revision: 2 }])
      for (const result of results) if (!result.ok) expect(result.current).toMatchObject({ revision: 2, value: bytes('writer 0') })
    })

    it('refuses only once what won is durable', async () => {
      const order: string[] = []
      const won = scene.put('/a', 'first').then(() => order.push('won'))
      const lost = scene.put('/a', 'second').then(() => order.push(`lost at ${scene.store.revision}`))
      await Promise.all([won, lost])
      expect(order).toEqual(['won', 'lost at 1'])
    })

    it('chains writes to one key that are made without waiting', async () => {
      const results = await Promise.all([
        scene.put('/a', 'one'), scene.put('/a', 'two', 1), scene.remove('/a', 2), scene.put('/a', 'three', 0),
      ])
      expect(results).toEqual([1, 2, 3, 4].map((revision) => ({ ok: true, revision })))
      expect(await scene.store.get('/a')).toMatchObject({ value: bytes('three'), createRevision: 4 })
    })

    it('resolves in the order of revisions', async () => {
      const order: number[] = []
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const result = await scene.put(`/${i % 7}/${i}`, 'x')
          if (result.ok) order.push(result.revision)
        }),
      )
      expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i + 1))
    })

    it('shows nothing that is not durable', async () => {
      await scene.put('/a', 'one')
      const writing = scene.put('/a', 'two', 1)
      expect(scene.store.revision).toBe(1)
      expect(await scene.store.get('/a')).toMatchObject({ revision: 1 })
      await writing
      expect(await scene.store.get('/a')).toMatchObject({ revision: 2 })
    })

    it('keeps any bytes, an empty value and a large one', async () => {
      const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
      const large = Buffer.alloc(3_000_000, 'large')
      await scene.store.write({ key: '/all', expected: 0, value: all })
      await scene.store.write({ key: '/empty', expected: 0, value: Buffer.alloc(0) })
      await scene.store.write({ key: '/large', expected: 0, value: large })
      expect((await scene.store.get('/all'))!.value.equals(all)).toBe(true)
      expect((await scene.store.get('/empty'))!.value.length).toBe(0)
      expect((await scene.store.get('/large'))!.value.equals(large)).toBe(true)
    })

    it('refuses a key that has no bytes of its own', async () => {
      await expect(scene.put('/\ud800', 'x')).rejects.toThrow('not valid Unicode')
    })
  })
}
