import { beforeEach, describe, expect, it } from 'vitest'
import { bytes, settled } from './scene.ts'
import type { Scene } from './scene.ts'

/** Tests the conditions of writes and their durability. */
export function describeWrites(sceneOf: () => Scene): void {
  let scene: Scene
  beforeEach(() => {
    scene = sceneOf()
  })

  describe('write()', () => {
    it('raises the revision and remembers where a key began', async () => {
      const created = await scene.put('/a', 'one')
      const other = await scene.put('/b', 'other')
      const changed = await scene.put('/a', 'two', created)
      expect([scene.start, created, other, changed].toSorted((a, b) => a - b)).toEqual([
        scene.start,
        created,
        other,
        changed,
      ])
      expect(new Set([scene.start, created, other, changed]).size).toBe(4)
      expect(scene.store.revision).toBe(changed)
      expect(await scene.store.get('/a')).toEqual({
        key: '/a',
        value: bytes('two'),
        revision: changed,
        createRevision: created,
      })
    })

    it('keeps the mark of each version, and has none where none was given', async () => {
      const marks = [undefined, 1, 0xffffff]
      const value = bytes('x')
      const revisions: number[] = []
      for (const mark of marks) {
        const result = await scene.store.write({ key: '/a', expected: revisions.at(-1) ?? 0, value, mark })
        revisions.push(result.ok ? result.revision : -1)
      }
      expect((await scene.store.get('/a'))!.mark).toBe(0xffffff)
      const found = await Promise.all(revisions.map((revision) => scene.store.range('/', { revision })))
      expect(found.map(({ items }) => items[0]!.mark)).toEqual(marks)
      const { calls } = await scene.collect('/')
      await settled()
      expect(calls.flat()).toMatchObject([
        { mark: undefined, previous: undefined },
        { mark: 1, previous: { mark: undefined } },
        { mark: 0xffffff, previous: { mark: 1 } },
      ])
    })

    it('begins anew when a deleted key is created again', async () => {
      const removed = await scene.remove('/a', await scene.put('/a', 'one'))
      expect(scene.store.revision).toBe(removed)
      expect(await scene.store.get('/a')).toBeUndefined()
      const again = await scene.put('/a', 'again')
      expect(await scene.store.get('/a')).toEqual({
        key: '/a',
        value: bytes('again'),
        revision: again,
        createRevision: again,
      })
    })

    it.each<[string, string, 'none' | 'other' | 'own', string | undefined, string | undefined]>([
      ['a create of what exists', '/a', 'none', 'new', 'one'],
      ['an update of another revision', '/a', 'other', 'new', 'one'],
      ['an update of what does not exist', '/x', 'other', 'new', undefined],
      ['an update of what was deleted', '/gone', 'own', 'new', undefined],
      ['a delete of another revision', '/a', 'other', undefined, 'one'],
      ['a delete of what does not exist', '/x', 'none', undefined, undefined],
      ['a delete of what was deleted', '/gone', 'own', undefined, undefined],
    ])('refuses %s and shows the current state', async (_, key, expecting, value, current) => {
      await scene.put('/a', 'one')
      const own = await scene.put('/gone', 'x')
      const last = await scene.remove('/gone', own)
      const expected = { none: 0, other: last, own }[expecting]
      const result = await scene.store.write({ key, expected, value: value === undefined ? undefined : bytes(value) })
      expect(result.ok).toBe(false)
      expect(!result.ok && result.current?.value.toString()).toBe(current)
      expect(scene.store.revision).toBe(last)
    })

    it('lets exactly one of many writers that expect the same win', async () => {
      const first = await scene.put('/a', 'zero')
      const results = await Promise.all(Array.from({ length: 20 }, (_, i) => scene.tryPut('/a', `writer ${i}`, first)))
      const won = results.filter((result) => result.ok)
      expect(won).toHaveLength(1)
      const winner = results.findIndex(({ ok }) => ok)
      for (const result of results)
        if (!result.ok)
          expect(result.current).toMatchObject({ revision: won[0]!.revision, value: bytes(`writer ${winner}`) })
    })

    it('resolves each once its event was delivered, and delivers in the order of revisions', async () => {
      const written: number[] = []
      const seen: number[] = []
      await scene.store.watch('/', scene.start, (events) => seen.push(...events.map(({ revision }) => revision)))
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const revision = await scene.put(`/${i % 7}/${i}`, 'x')
          expect(seen).toContain(revision)
          written.push(revision)
        }),
      )
      expect(seen).toEqual(written.toSorted((a, b) => a - b))
    })

    it('keeps any bytes, an empty value and a large one', async () => {
      const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
      const large = Buffer.alloc(1_000_000, 'large')
      const blank = Buffer.from(`{}\n${' '.repeat(60)}`)
      const values: Record<string, Buffer> = {
        '/all': all,
        '/empty': Buffer.alloc(0),
        '/large': large,
        '/blank': blank,
        '/encrypted': bytes('k8s:enc:x'),
      }
      for (const [key, value] of Object.entries(values)) await scene.store.write({ key, expected: 0, value })
      for (const [key, value] of Object.entries(values))
        expect((await scene.store.get(key))!.value.equals(value)).toBe(true)
    })

    it('refuses a key that has no bytes of its own', async () => {
      await expect(scene.put('/\ud800', 'x')).rejects.toThrow('not valid Unicode')
    })
  })
}
