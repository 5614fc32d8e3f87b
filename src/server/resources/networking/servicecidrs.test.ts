import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { KubeObject } from '../../../api/object.ts'
import { ipaddresses } from './ipaddresses.ts'
import { servicecidrs } from './servicecidrs.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
const range = (...cidrs: string[]) => ({ metadata: { name: 'x' }, spec: { cidrs } }) as KubeObject
const address = (parentRef?: object) => ({ metadata: { name: '10.0.0.5' }, spec: { parentRef } }) as KubeObject
const parent = { resource: 'services', namespace: 'default', name: 'web' }

describe('a ServiceCIDR', () => {
  test.each<[string, string[], string[]]>([
    ['one range', ['10.1.0.0/24'], []],
    ['one of each family', ['10.1.0.0/24', 'fd00::/64'], []],
    ['none', [], ['spec.cidrs: Required value: at least one CIDR required']],
    ['three', ['10.1.0.0/24', 'fd00::/64', '10.2.0.0/24'], ['spec.cidrs: Invalid value: {"cidrs":["10.1.0.0/24","fd00::/64","10.2.0.0/24"]}: may only hold up to 2 values']],
    ['two of one family', ['10.1.0.0/24', '10.2.0.0/24'], ['spec.cidrs: Invalid value: {"cidrs":["10.1.0.0/24","10.2.0.0/24"]}: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64']],
    ['an address in it', ['10.1.0.1/24'], ['spec.cidrs[0]: Invalid value: "10.1.0.1/24": must not have bits set beyond the prefix length']],
    ['no range', ['10.1.0.0'], ['spec.cidrs[0]: Invalid value: "10.1.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  ])('with %s', (_, cidrs, errors) => expect(said(servicecidrs.validate(range(...cidrs), ctx))).toEqual(errors))

  test.each<[string, string[], string[]]>([
    ['stays', ['10.1.0.0/24'], []],
    ['gets a range of the other family', ['10.1.0.0/24', 'fd00::/64'], []],
    ['changes', ['10.2.0.0/24'], ['spec.cidrs[0]: Invalid value: "10.2.0.0/24": field is immutable']],
    ['goes', [], ['spec.cidrs: Invalid value: []: field is immutable']],
  ])('that %s', (_, cidrs, errors) => expect(said(servicecidrs.validateUpdate(range(...cidrs), range('10.1.0.0/24'), ctx))).toEqual(errors))
})

describe('an IPAddress', () => {
  test.each<[string, object | undefined, string[]]>([
    ['a Service', parent, []],
    ['nothing', undefined, ['spec.parentRef: Required value']],
    ['something without a name', {}, ['spec.parentRef.resource: Required value', 'spec.parentRef.name: Required value']],
    ['something in a bad namespace', { ...parent, namespace: 'a/b' }, ["spec.parentRef.namespace: Invalid value: \"a/b\": may not contain '/'"]],
  ])('of %s', (_, ref, errors) => expect(said(ipaddresses.validate(address(ref), ctx))).toEqual(errors))

  test('is named by the address, and stays with its parent', () => {
    expect(ipaddresses.nameRule('10.0.0.5', false)).toEqual([])
    expect(ipaddresses.nameRule('010.0.0.5', false)).not.toEqual([])
    expect(ipaddresses.nameRule('fd00:0::1', false)).toEqual(['must be in canonical form ("fd00::1")'])
    expect(said(ipaddresses.validateUpdate(address({ ...parent, name: 'other' }), address(parent), ctx))).toHaveLength(1)
    expect(ipaddresses.columns![1]!.cell(address(parent), 0)).toBe('services/default/web')
  })
})
