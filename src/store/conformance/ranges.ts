import { beforeEach, describe, expect, it } from 'vitest'
import { FutureRevisionError, loadAll } from '../store.ts'
import { bytes, keysOf } from './scene.ts'
import type { Scene } from './scene.ts'

/** Tests range reads. */
export function describeRanges(sceneOf: () => Scene): void {
  let scene: Scene
  beforeEach(() => {
    scene = sceneOf()
  })

  describe('range()', () => {
    let at: Record<string, number>
    let last: number
    beforeEach(async () => {
      const keys = ['/pods/b', '/pods/a', '/pods', '/podsets/a', '/pods/c', '/nodes/a']
      at = {}
      for (const key of keys) at[key] = await scene.put(key, `value of ${key}`)
      last = scene.store.revision
    })

    it('returns what starts with the prefix, in order', async () => {
      const { items, revision, remaining } = await scene.store.range('/pods/')
      expect(keysOf(items)).toEqual(['/pods/a', '/pods/b', '/pods/c'])
      expect(items[0]).toEqual({
        key: '/pods/a',
        value: bytes('value of /pods/a'),
        revision: at['/pods/a'],
        createRevision: at['/pods/a'],
      })
      expect({ revision, remaining }).toEqual({ revision: last, remaining: 0 })
      expect(keysOf((await scene.store.range('')).items)).toHaveLength(6)
      expect((await scene.store.range('/x')).items).toEqual([])
    })

    it('is loaded page by page, each key once and in order, at one revision', async () => {
      const { store } = scene
      const keys = Array.from({ length: 1700 }, (_, i) => `/loaded/${String(i).padStart(4, '0')}`)
      await Promise.all(keys.map((key) => store.write({ key, expected: 0, value: bytes(`value of ${key}`) })))
      const found: string[] = []
      const revisions = new Set<number>()
      const revision = await loadAll(store, '/loaded/', async (items, at) => {
        for (const { key, value } of items) {
          expect(value.toString()).toBe(`value of ${key}`)
          found.push(key)
        }
        revisions.add(at)
        // A write in the meantime belongs to a later revision.
        await store.write({ key: `/loaded/9${found.length}`, expected: 0, value: bytes('late') })
      })
      expect(found).toEqual(keys)
      expect(revisions).toEqual(new Set([revision]))
      expect(await loadAll(store, '/nothing/', () => undefined)).toBe(store.revision)
    })

    it('is not loaded further once a page could not be taken', async () => {
      await expect(loadAll(scene.store, '/pods/', () => Promise.reject(new Error('not this one')))).rejects.toThrow(
        'not this one',
      )
    })

    it('sorts by bytes, not by UTF-16', async () => {
      const keys = ['/u/\u{10ffff}', '/u/\uffee', '/u/\ue000', '/u/\ud7ff', '/u/z', '/u/é']
      for (const key of keys) await scene.put(key, 'x')
      const sorted = [...keys].sort((a, b) => Buffer.compare(bytes(a), bytes(b)))
      expect(keysOf((await scene.store.range('/u/')).items)).toEqual(sorted)
      expect(keysOf((await scene.store.range('/u/', { after: '/u/\uffee' })).items)).toEqual(['/u/\u{10ffff}'])
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
      const result = await scene.store.range('/pods/', options)
      expect(keysOf(result.items)).toEqual(keys)
      expect(result.remaining).toBe(remaining)
    })

    it('reads as it was at an older revision', async () => {
      await scene.remove('/pods/a', at['/pods/a']!)
      await scene.put('/pods/b', 'newer', at['/pods/b'])
      await scene.put('/pods/d', 'late')
      const { items, revision } = await scene.store.range('/pods/', { revision: last })
      expect(items.map(({ key, value }) => `${key}: ${value.toString()}`)).toEqual([
        '/pods/a: value of /pods/a',
        '/pods/b: value of /pods/b',
        '/pods/c: value of /pods/c',
      ])
      expect(revision).toBe(last)
      expect(keysOf((await scene.store.range('/pods/', { revision: at['/pods/b']! })).items)).toEqual(['/pods/b'])
    })

    it('counts what remains at that revision, in a large store', async () => {
      const key = (i: number): string => `/many/${String(i).padStart(4, '0')}`
      const revisions = await Promise.all(Array.from({ length: 1000 }, (_, i) => scene.put(key(i), 'x')))
      const then = scene.store.revision
      await Promise.all(Array.from({ length: 500 }, (_, i) => scene.remove(key(i * 2), revisions[i * 2]!)))
      expect(await scene.store.range('/many/', { limit: 10 })).toMatchObject({ remaining: 490 })
      expect(await scene.store.range('/many/', { limit: 10, revision: then })).toMatchObject({
        remaining: 990,
        revision: then,
      })
    })

    it('refuses a revision that has not happened', async () => {
      await expect(scene.store.range('/pods/', { revision: last + 1 })).rejects.toThrow(FutureRevisionError)
    })
  })
}
