import { expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { ConfigMap } from '../../../api/generated/types.ts'
import { configmaps } from './configmaps.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const made = (fields: Partial<ConfigMap>): ConfigMap => ({ metadata: { name: 'x' }, ...fields })
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
const immutable = 'Forbidden: field is immutable when `immutable` is set'

test.each<[string, Partial<ConfigMap>, string[]]>([
  ['takes both bags', { data: { a: 'b' }, binaryData: { b: 'AAEC' } }, []],
  ['refuses the key .', { data: { '.': 'c' } }, ['data[.]: Invalid value: ".": must not be \'.\'']],
  ['refuses one key in both', { data: { a: 'b' }, binaryData: { a: 'AAEC' } }, ['data[a]: Invalid value: "a": duplicate of key present in binaryData']],
  ['takes exactly a mebibyte', { data: { a: 'x'.repeat(1024 * 1024 - 3) }, binaryData: { b: 'AAEC' } }, []],
  ['refuses a byte more', { data: { a: 'x'.repeat(1024 * 1024 - 2) }, binaryData: { b: 'AAEC' } }, ['[]: Too long: may not be more than 1048576 bytes']],
])('validate() %s', (_, fields, errors) => expect(said(configmaps.validate(made(fields), ctx))).toEqual(errors))

test.each<[string, Partial<ConfigMap>, Partial<ConfigMap>, string[]]>([
  ['lets data of an ordinary map change', { data: { a: 'b' } }, { data: { a: 'c' }, immutable: true }, []],
  ['lets an immutable one be as it is', { data: { a: 'b' }, immutable: true }, { data: { a: 'b' }, immutable: true }, []],
  ['keeps immutable data', { data: { a: 'b' }, immutable: true }, { data: { a: 'c' }, immutable: true }, [`data: ${immutable}`]],
  ['keeps the word', { immutable: true }, { immutable: false, binaryData: { a: 'AA==' } }, [`immutable: ${immutable}`, `binaryData: ${immutable}`]],
])('validateUpdate() %s', (_, old, next, errors) => expect(said(configmaps.validateUpdate(made(next), made(old), ctx))).toEqual(errors))

test('the cell counts both bags', () => {
  expect(configmaps.columns![1]!.cell(made({ data: { a: 'b', c: 'd' }, binaryData: { e: '' } }), 0)).toBe(3)
})
