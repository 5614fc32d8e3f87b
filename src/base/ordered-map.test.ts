import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OrderedMap } from './ordered-map.ts'

describe('OrderedMap', () => {
  it('agrees with a sorted plain map over random histories', () => {
    const key = fc.stringMatching(/^[ab/]{0,6}$/)
    const step = fc.oneof(
      fc.record({ do: fc.constant('set' as const), key, value: fc.integer() }),
      fc.record({ do: fc.constant('delete' as const), key }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), key, key, (steps, prefix, after) => {
        const map = new OrderedMap<number>()
        const model = new Map<string, number>()
        for (const s of steps) {
          if (s.do === 'set') {
            map.set(s.key, s.value)
            model.set(s.key, s.value)
          } else {
            expect(map.delete(s.key)).toBe(model.delete(s.key))
          }
        }
        const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1))
        expect(map.size).toBe(model.size)
        expect([...map.values()]).toEqual(sorted.map(([, v]) => v))
        expect([...map.rangePrefix(prefix)]).toEqual(sorted.filter(([k]) => k.startsWith(prefix)).map(([, v]) => v))
        expect([...map.rangePrefix(prefix, prefix + after)]).toEqual(
          sorted.filter(([k]) => k.startsWith(prefix) && k > prefix + after).map(([, v]) => v),
        )
        for (const from of [undefined, after, prefix + after]) {
          const wanted = [...map.rangePrefix(prefix, from)]
          expect(map.snapshot(prefix, from)).toEqual({ values: wanted, behind: 0 })
          expect(map.snapshot(prefix, from, 3)).toEqual({ values: wanted.slice(0, 3), behind: Math.max(0, wanted.length - 3) })
        }
      }),
    )
  })

  it('keeps order and finds everything across many chunks, inserted in any order', () => {
    const map = new OrderedMap<number>()
    const n = 5_000
    for (let i = 0; i < n; i++) {
      const j = (i * 2_654_435_761) % n
      map.set(String(j).padStart(6, '0'), j)
    }
    expect([...map.values()]).toEqual([...Array(n).keys()])
    for (let i = 0; i < n; i += 2) map.delete(String(i).padStart(6, '0'))
    expect(map.size).toBe(n / 2)
    expect([...map.rangePrefix('0000')]).toEqual([...Array(50).keys()].map((i) => 2 * i + 1))
    expect(map.get('000007')).toBe(7)
    expect(map.get('000008')).toBeUndefined()
  })
  it('pages through many chunks, looking only at the page and what is behind it by the chunk', () => {
    const map = new OrderedMap<string>()
    const keys = Array.from({ length: 5000 }, (_, i) => `/pods/ns-${Math.floor(i / 1000)}/${String(i).padStart(6, '0')}`)
    for (const key of keys) map.set(key, key)
    const seen: string[] = []
    let after: string | undefined
    for (let page = 0; page < 100; page++) {
      const { values, behind } = map.snapshot('/pods/', after, 300)
      seen.push(...values)
      expect(behind).toBe(5000 - seen.length)
      if (behind === 0) break
      after = values.at(-1)
    }
    expect(seen).toEqual(keys)
    expect(map.snapshot('/pods/ns-2/', undefined, 10)).toEqual({ values: keys.slice(2000, 2010), behind: 990 })
    expect(map.snapshot('/pods/ns-5/')).toEqual({ values: [], behind: 0 })
  })

  it('leaves a snapshot alone when the map goes on', () => {
    const map = new OrderedMap<number>()
    for (let i = 0; i < 2000; i++) map.set(String(i).padStart(4, '0'), i)
    const { values } = map.snapshot('')
    for (let i = 0; i < 2000; i += 2) map.delete(String(i).padStart(4, '0'))
    expect(values).toEqual([...Array(2000).keys()])
  })
})
