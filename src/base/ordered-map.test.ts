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
})
