import { describe, expect, it } from 'vitest'
import { isHopeless, refuseHopeless } from './object-size.ts'

const many = (n: number, make: (i: number) => unknown) => Array.from({ length: n }, (_, i) => make(i))

describe('isHopeless()', () => {
  it.each<[string, unknown, boolean]>([
    ['little', { a: [1, 'b', null] }, false],
    ['few long texts, which the rules of the kind refuse', { a: 'x'.repeat(3_000_000) }, false],
    ['many values that fit', many(40_000, () => ({ name: '' })), false],
    ['many values that do not', many(200_000, () => ({ name: 'container', resources: {} })), true],
    ['more values than there is room for', many(900_000, () => 0), true],
    ['a map of many keys', Object.fromEntries(many(200_000, (i) => [`key-${i}`, '']) as [string, string][]), true],
    ['deep values', many(100_000, (i) => [[[`${i}-${'x'.repeat(20)}`]]]), true],
  ])('%s', (_what, value, isTrue) => {
    expect(isHopeless(value)).toBe(isTrue)
  })
})

describe('refuseHopeless()', () => {
  const rows = many(200_000, () => ({ name: 'container', resources: {} }))
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }

  it('refuses a spec that is too large, and leaves out what a write may drop', () => {
    expect(() => refuseHopeless({ ...object, spec: rows } as never)).toThrow('Request entity too large: limit is 1572864')
    expect(() => refuseHopeless({ ...object, status: rows } as never)).not.toThrow()
    expect(() => refuseHopeless({ ...object, metadata: { name: 'p', managedFields: rows } } as never)).not.toThrow()
  })
})
