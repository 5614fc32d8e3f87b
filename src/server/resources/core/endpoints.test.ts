import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { EndpointSubset, Endpoints } from '../../../api/generated/types.ts'
import { endpoints } from './endpoints.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const made = (...subsets: EndpointSubset[]): Endpoints => {
  const obj: Endpoints = { metadata: { name: 'x' }, subsets }
  endpoints.defaults!(obj, ctx)
  return obj
}
const judge = (subset: EndpointSubset) => endpoints.validate(made(subset), ctx).map((e) => `${e.field}: ${e.message}`)
const ip = '10.1.2.3'

describe('validate()', () => {
  test.each<[string, EndpointSubset, string[]]>([
    ['addresses without ports', { addresses: [{ ip }] }, []],
    ['only addresses that are not ready', { notReadyAddresses: [{ ip }], ports: [{ port: 80 }] }, []],
    ['no addresses', { ports: [{ port: 80 }] }, ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`']],
    ['ports without names', { addresses: [{ ip }], ports: [{ port: 80 }, { name: 'b', port: 81 }] }, ['subsets[0].ports[0].name: Required value']],
    [
      'no address, twice over',
      { addresses: [{ ip: '' }] },
      [
        'subsets[0].addresses[0].ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'subsets[0].addresses[0].ip: Invalid value: "": must be a valid IP address',
      ],
    ],
    ['an address of this link', { notReadyAddresses: [{ ip: 'fe80::1' }] }, ['subsets[0].notReadyAddresses[0].ip: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)']],
    ['a bad protocol', { addresses: [{ ip }], ports: [{ port: 1, protocol: 'X' }] }, ['subsets[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"']],
    ['port 0', { addresses: [{ ip }], ports: [{ port: 0 }] }, ['subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive']],
  ])('%s', (_, subset, errors) => expect(judge(subset)).toEqual(errors))
})

test('validateUpdate() leaves untouched what older rules let in', () => {
  const old = made({ addresses: [{ ip: '127.0.0.1' }] })
  expect(endpoints.validateUpdate(made({ addresses: [{ ip: '127.0.0.1' }] }), old, ctx)).toEqual([])
  expect(endpoints.validateUpdate(made({ addresses: [{ ip: '127.0.0.2' }] }), old, ctx)).toHaveLength(1)
})

test.each<[string, EndpointSubset[], string]>([
  ['none', [], '<none>'],
  ['without ports', [{ addresses: [{ ip }] }], ip],
  ['both families', [{ addresses: [{ ip }, { ip: 'fd00::1' }], ports: [{ port: 80 }] }], '10.1.2.3:80,[fd00::1]:80'],
  ['more than three', [{ addresses: [{ ip }, { ip }], ports: [{ name: 'a', port: 80 }, { name: 'b', port: 81 }] }], '10.1.2.3:80,10.1.2.3:80,10.1.2.3:81 + 1 more...'],
])('the cell of %s', (_, subsets, text) => expect(endpoints.columns![1]!.cell(made(...subsets), 0)).toBe(text))
