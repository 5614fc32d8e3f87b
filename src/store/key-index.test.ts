import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyIndex, stateAt } from './key-index.ts'
import type { Version } from './key-index.ts'

const names = (found: Version[]): string[] => found.map(({ key }) => key)

/** Puts the next version of a key. */
function put(index: KeyIndex, key: string, revision: number, isDelete = false): void {
  const older = index.head(key)
  index.put({ key, revision, createRevision: isDelete ? 0 : older?.createRevision || revision, older })
}

describe('KeyIndex', () => {
  it('agrees with a sorted list, however keys come and go', () => {
    const change = fc.record({
      key: fc.nat(3000).map((n) => `/${n % 7}/${n}`),
      kind: fc.constantFrom('put', 'put', 'put', 'delete', 'forget', 'revert'),
    })
    const history = fc.array(change, { minLength: 1000, maxLength: 3000 })
    fc.assert(fc.property(history, fc.nat(7), fc.nat(20), (changes, digit, limit) => {
      const index = new KeyIndex()
      const live = new Set<string>()
      let revision = 0
      for (const { key, kind } of changes) {
        const head = index.head(key)
        if (kind === 'put') {
          put(index, key, ++revision)
          live.add(key)
        } else if (kind === 'delete' && head) {
          put(index, key, ++revision, true)
          live.delete(key)
        } else if (kind === 'forget' && head) {
          index.remove(head)
          live.delete(key)
        } else if (kind === 'revert' && head) {
          put(index, key, revision + 1, head.createRevision > 0)
          index.revert(index.head(key)!)
        }
      }
      const prefix = `/${digit}/`
      const expected = [...live].filter((key) => key.startsWith(prefix)).sort()
      expect(names(index.scan(prefix, revision, undefined, Infinity).found)).toEqual(expected)
      const page = index.scan(prefix, revision, expected[3], limit)
      expect(names(page.found)).toEqual(expected.slice(4, 4 + limit))
      expect(page.remaining).toBe(Math.max(0, expected.length - 4 - limit))
    }), { numRuns: 30 })
  })

  it.each<[string, (i: number) => number]>([
    ['in order', (i) => i],
    ['in reverse', (i) => 4999 - i],
    ['at random', (i) => (i * 1933) % 5000],
  ])('finds keys that came %s', (_, order) => {
    const keys = Array.from({ length: 5000 }, (_, i) => String(i).padStart(4, '0'))
    const index = new KeyIndex()
    for (let i = 0; i < 5000; i++) put(index, keys[order(i)]!, i + 1)
    expect(names(index.scan('', 5000, undefined, Infinity).found)).toEqual(keys)
  })

  it('refuses to forget a version that is not the newest', () => {
    const index = new KeyIndex()
    put(index, '/a', 1)
    const first = index.head('/a')!
    put(index, '/a', 2)
    expect(() => index.remove(first)).toThrow('not the newest')
  })
})

describe('stateAt()', () => {
  const none = undefined
  it.each<[number, number | undefined]>([
    [0, none], [1, 1], [2, 1], [3, 3], [4, none], [5, none], [6, 6], [9, 6],
  ])('at %i is %s', (revision, expected) => {
    const index = new KeyIndex()
    put(index, '/a', 1)
    put(index, '/a', 3)
    put(index, '/a', 4, true)
    put(index, '/a', 6)
    expect(stateAt(index.head('/a'), revision)?.revision).toBe(expected)
  })
})
