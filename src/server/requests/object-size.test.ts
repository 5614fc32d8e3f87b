import { describe, expect, it } from 'vitest'
import { excessOf, refuseHopeless } from './object-size.ts'

const many = (n: number, make: (i: number) => unknown) => Array.from({ length: n }, (_, i) => make(i))

describe('excessOf()', () => {
  it.each<[string, unknown, 'fits' | 'few values' | 'many values']>([
    ['little', { a: [1, 'b', null] }, 'fits'],
    ['a long text', { a: 'x'.repeat(3_000_000) }, 'few values'],
    ['many values that fit', many(40_000, () => ({ name: '' })), 'fits'],
    ['many values that do not', many(200_000, () => ({ name: 'container', resources: {} })), 'many values'],
    ['more values than there is room for', many(900_000, () => 0), 'many values'],
    ['a map of many keys', Object.fromEntries(many(200_000, (i) => [`key-${i}`, '']) as [string, string][]), 'many values'],
    ['deep values', many(100_000, (i) => [[[`${i}-${'x'.repeat(20)}`]]]), 'many values'],
  ])('%s', (_what, value, expected) => {
    const excess = excessOf(value)
    expect(excess ? (excess.values > 5000 ? 'many values' : 'few values') : 'fits').toBe(expected)
  })
})

describe('refuseHopeless()', () => {
  const rows = many(200_000, () => ({ name: 'container', resources: {} }))
  const long = 'x'.repeat(2_000_000)
  const tooLarge = 'Request entity too large: limit is 1572864'
  const annotations = 'Pod "p" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes'
  const pod = (more: object, metadata: object = {}) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, ...more })

  it.each<[string, object, string | undefined]>([
    ['a spec of many values', pod({ spec: rows }), tooLarge],
    ['a long text', pod({ spec: { nodeName: long } }), tooLarge],
    ['a long name', pod({}, { name: long }), tooLarge],
    ['a status, which a write may leave out', pod({ status: rows }), undefined],
    ['managed fields, which a write may leave out', pod({}, { managedFields: rows }), undefined],
    ['annotations, by which most large objects fail', pod({}, { annotations: { 'last-applied': long } }), annotations],
    ['annotations beside many values', pod({ spec: rows }, { annotations: { 'last-applied': long } }), annotations],
    ['data of a ConfigMap, for its own rules', { ...pod({ data: { a: long } }), kind: 'ConfigMap' }, undefined],
    ['text of a Secret, for its own rules', { ...pod({ stringData: { a: long } }), kind: 'Secret' }, undefined],
    ['a ConfigMap of many values', { ...pod({ data: rows }), kind: 'ConfigMap' }, tooLarge],
    ['a ConfigMap with a long label', { ...pod({}, { labels: { a: long } }), kind: 'ConfigMap' }, tooLarge],
  ])('%s', (_what, object, message) => {
    const refuse = () => refuseHopeless('', object as never)
    if (message === undefined) expect(refuse).not.toThrow()
    else expect(refuse).toThrow(message)
  })
})
