import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addedFields } from './created-fields.ts'
import { sampleType } from './testing/sample-type.ts'
import { compare } from './typed-value.ts'

describe('short cuts', () => {
  const value = fc.constantFrom<unknown>('', 'x', 0, 1, false, true, null, {}, [])
  const optional = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] })
  const map = fc.dictionary(fc.constantFrom('k', 'l', 'm'), value, { maxKeys: 3 })
  const item = fc.record({ name: fc.constantFrom('p', 'q', 'r', 's'), v: value, map }, { requiredKeys: ['name'] })
  const items = fc.uniqueArray(item, { selector: ({ name }) => name })
  const port = fc.record({ port: fc.constantFrom(1, 2), protocol: fc.constantFrom('TCP', 'UDP') }, { requiredKeys: ['port'] })
  const nothing = fc.constantFrom<unknown>(null, {}, [])
  const object = optional({
    a: value, b: value, struct: fc.oneof(nothing, optional({ x: value, inner: fc.oneof(nothing, optional({ z: value })) })), whole: map, map: fc.oneof(nothing, map),
    list: fc.array(value), set: fc.uniqueArray(fc.constantFrom('s', 't', 'u')), items: fc.oneof(nothing, items), ports: fc.array(port), any: fc.oneof(value, map),
  })
  const before = { a: '', b: null, struct: { x: 0, inner: {} }, map: null, items: null, any: false }
  const skips = new Set(['b'])

  it('addedFields() is what compare() finds, whatever objects came before', () => {
    fc.assert(fc.property(fc.array(object), (objects) => {
      for (const after of objects) {
        for (const skipped of [skips, new Set<string>()]) {
          expect(addedFields(sampleType, before, after, skipped)).toEqual(compare(sampleType, before, after, skipped).changed)
        }
      }
    }), { numRuns: 300 })
  })

  it('compare() of items in the same order finds what it does in another', () => {
    fc.assert(fc.property(items, fc.array(item, { minLength: 4, maxLength: 4 }), (was, others) => {
      const is = was.map(({ name }, i) => ({ ...others[i]!, name }))
      const found = compare(sampleType, { items: was }, { items: is })
      expect(found).toEqual(compare(sampleType, { items: was }, { items: is.toReversed() }))
      expect(compare(sampleType, { items: is }, { items: was }).removed).toEqual(compare(sampleType, { items: is.toReversed() }, { items: was }).removed)
    }), { numRuns: 300 })
  })
})
