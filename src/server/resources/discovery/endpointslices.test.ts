import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { EndpointSlice } from '../../../api/generated/types.ts'
import type { Partly } from '../../../api/object.ts'
import { endpointslices } from './endpointslices.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
const address = '10.1.2.3'

function made(fields: Partly<EndpointSlice> = {}): EndpointSlice {
  const slice = structuredClone({ metadata: { name: 'x' }, addressType: 'IPv4', endpoints: [{ addresses: [address] }], ports: [{ port: 80 }], ...fields }) as EndpointSlice
  endpointslices.defaults!(slice, ctx)
  return slice
}

test('ports have a name and a protocol', () => {
  expect(made().ports).toEqual([{ name: '', port: 80, protocol: 'TCP' }])
})

describe('validate()', () => {
  const endpoint = (fields: object) => ({ endpoints: [{ addresses: [address], ...fields }] })
  test.each<[string, Partly<EndpointSlice>, string[]]>([
    ['the least', {}, []],
    ['nothing behind it', { endpoints: undefined, ports: undefined }, []],
    ['no address type', { addressType: '' }, ['addressType: Required value']],
    ['an unknown address type', { addressType: 'IPX' }, ['addressType: Unsupported value: "IPX": supported values: "FQDN", "IPv4", "IPv6"']],
    ['the other family', endpoint({ addresses: ['fd00::1'] }), ['endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address']],
    ['no addresses', endpoint({ addresses: [] }), ['endpoints[0].addresses: Required value: must contain at least 1 address']],
    ['101 addresses', endpoint({ addresses: Array(101).fill(address) }), ['endpoints[0].addresses: Too many: 101: must have at most 100 items']],
    ['1001 endpoints', { endpoints: Array.from({ length: 1001 }, () => ({ addresses: [address] })) }, ['endpoints: Too many: 1001: must have at most 1000 items']],
    ['a name of two parts', { addressType: 'FQDN', endpoints: [{ addresses: ['a.example.'] }] }, []],
    ['a name of one part', { addressType: 'FQDN', endpoints: [{ addresses: ['example'] }] }, ['endpoints[0].addresses[0]: Invalid value: "example": should be a domain with at least two segments separated by dots']],
    ['one zone twice', endpoint({ hints: { forZones: [{ name: 'z' }, { name: 'z' }] } }), ['endpoints[0].hints.forZones[1].name: Duplicate value: "z"']],
    ['nine nodes', endpoint({ hints: { forNodes: Array.from({ length: 9 }, () => ({ name: 'z' })) } }), ['endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items']],
    ['ports of one name', { ports: [{ port: 80 }, { port: 81 }] }, ['ports[1].name: Duplicate value: ""']],
    ['any port number', { ports: [{ port: 70000 }] }, []],
  ])('%s', (_, fields, errors) => expect(said(endpointslices.validate(made(fields), ctx))).toEqual(errors))
})

test('validateUpdate() keeps the address type', () => {
  const next = made({ addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1'] }] })
  expect(said(endpointslices.validateUpdate(next, made(), ctx))).toEqual(['addressType: Invalid value: "IPv6": field is immutable'])
})

test('the generation counts changes of contents and labels', () => {
  const { changed } = endpointslices.generation as { changed(a: EndpointSlice, b: EndpointSlice): boolean }
  expect(changed(made(), made())).toBe(false)
  expect(changed(made({ metadata: { name: 'x', annotations: { a: 'b' } } }), made())).toBe(false)
  expect(changed(made({ metadata: { name: 'x', labels: { a: 'b' } } }), made())).toBe(true)
  expect(changed(made({ endpoints: [] }), made())).toBe(true)
})

test('the old topology is dropped', () => {
  const slice = made({ endpoints: [{ addresses: [address], deprecatedTopology: { a: 'b' } }] })
  endpointslices.prepareForCreate!(slice, ctx)
  expect(slice.endpoints).toEqual([{ addresses: [address] }])
})

test('cells', () => {
  const cells = (fields: Partly<EndpointSlice>) => endpointslices.columns!.slice(0, 4).map((c) => c.cell(made(fields), 0))
  expect(cells({})).toEqual(['x', 'IPv4', '80', address])
  expect(cells({ endpoints: undefined, ports: undefined })).toEqual(['x', 'IPv4', '<unset>', '<unset>'])
  expect(cells({ endpoints: [{ addresses: ['1.1.1.1', '1.1.1.2'] }, { addresses: ['1.1.1.3', '1.1.1.4'] }], ports: [{ name: 'a', port: 1 }, { name: 'all' }] })).toEqual([
    'x', 'IPv4', '1,all', '1.1.1.1,1.1.1.2,1.1.1.3 + 1 more...',
  ])
})
