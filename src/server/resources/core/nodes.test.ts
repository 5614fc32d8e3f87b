import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { Node, NodeSpec, NodeStatus } from '../../../api/generated/types.ts'
import { nodes } from './nodes.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)

function made(spec: NodeSpec = {}, status: Partial<NodeStatus> = {}, labels?: Record<string, string>): Node {
  const node = structuredClone({ metadata: { name: 'n', labels }, spec, status }) as Node
  nodes.defaults!(node, ctx)
  return node
}

describe('defaults()', () => {
  test.each<[string, NodeSpec, string | undefined, string[] | undefined]>([
    ['podCIDR fills podCIDRs', { podCIDR: '10.5.0.0/24' }, '10.5.0.0/24', ['10.5.0.0/24']],
    ['podCIDRs fill podCIDR', { podCIDRs: ['10.5.0.0/24', 'fd00::/64'] }, '10.5.0.0/24', ['10.5.0.0/24', 'fd00::/64']],
    ['podCIDR wins where they disagree', { podCIDR: '10.5.0.0/24', podCIDRs: ['10.6.0.0/24'] }, '10.5.0.0/24', ['10.5.0.0/24']],
    ['neither stays neither', {}, undefined, undefined],
  ])('%s', (_, spec, one, list) => expect([made(spec).spec?.podCIDR, made(spec).spec?.podCIDRs]).toEqual([one, list]))

  test('capacity is what can be allocated unless said otherwise', () => {
    expect(made({}, { capacity: { cpu: '4' } }).status?.allocatable).toEqual({ cpu: '4' })
    expect(made({}, { capacity: { cpu: '4' }, allocatable: { cpu: '3' } }).status?.allocatable).toEqual({ cpu: '3' })
  })
})

describe('validate()', () => {
  const taint = { key: 'a', effect: 'NoSchedule' }
  test.each<[string, NodeSpec, Partial<NodeStatus>, string[]]>([
    ['one network for each family', { podCIDRs: ['10.5.0.0/24', 'fd00::/64'] }, {}, []],
    ['two networks of one family', { podCIDRs: ['10.5.0.0/24', '10.6.0.0/24'] }, {}, ['spec.podCIDRs: Invalid value: ["10.5.0.0/24","10.6.0.0/24"]: may specify no more than one CIDR for each IP family']],
    ['a network with host bits', { podCIDR: '10.5.0.1/24' }, {}, ['spec.podCIDRs[0]: Invalid value: "10.5.0.1/24": must not have bits set beyond the prefix length']],
    ['a taint without an effect', { taints: [{ key: 'a', effect: '' }] }, {}, ['metadata.taints[0].effect: Required value']],
    ['an unknown effect', { taints: [{ key: 'a', effect: 'No' }] }, {}, ['metadata.taints[0].effect: Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"']],
    ['one taint with two effects', { taints: [taint, { ...taint, effect: 'NoExecute' }] }, {}, []],
    ['a taint twice', { taints: [taint, { ...taint, value: 'b' }] }, {}, ['metadata.taints[1]: Duplicate value: {"Key":"a","Value":"b","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair']],
    ['half a pod', {}, { capacity: { pods: '500m' }, allocatable: {} }, ['status.capacity.pods: Invalid value: "500m": must be an integer']],
    ['less than nothing', {}, { capacity: { cpu: '-1' } }, ['status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0', 'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0']],
  ])('%s', (_, spec, status, errors) => expect(said(nodes.validate(made(spec, status), ctx))).toEqual(errors))
})

describe('validateUpdate()', () => {
  const cidrs = 'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'
  test.each<[string, NodeSpec, NodeSpec, string[]]>([
    ['a network may be set', {}, { podCIDR: '10.5.0.0/24' }, []],
    ['a network may not change', { podCIDR: '10.5.0.0/24' }, { podCIDR: '10.6.0.0/24' }, [cidrs]],
    ['a network may not be taken away', { podCIDR: '10.5.0.0/24' }, {}, [cidrs]],
    ['a provider may be set', {}, { providerID: 'a://b' }, []],
    ['a provider may not change', { providerID: 'a://b' }, {}, ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid']],
    ['an external ID may not change', {}, { externalID: 'e' }, ['spec.externalID: Forbidden: may not be updated']],
    ['taints and unschedulable may change', {}, { unschedulable: true, taints: [{ key: 'a', effect: 'NoExecute' }] }, []],
  ])('%s', (_, old, next, errors) => expect(said(nodes.validateUpdate(made(next), made(old), ctx))).toEqual(errors))

  test('an address may not be there twice', () => {
    const address = { type: 'InternalIP', address: '10.9.9.9' }
    expect(said(nodes.status!.validate(made({}, { addresses: [address, address] }), made(), ctx))).toEqual([
      'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"10.9.9.9"}',
    ])
  })
})

test('a configuration source is dropped', () => {
  const node = made({ configSource: {} })
  nodes.prepareForCreate!(node, ctx)
  expect(node.spec?.configSource).toBeUndefined()
})

describe('cells', () => {
  const cells = (node: Node) => nodes.columns!.filter((c) => c.name !== 'Age').map((c) => c.cell(node, 0))
  test('of a node that nobody knows', () => {
    expect(cells(made())).toEqual(['n', 'Unknown', '<none>', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'])
  })
  test('of a node at work', () => {
    const status = {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [{ type: 'Hostname', address: 'h' }, { type: 'InternalIP', address: '10.0.0.1' }, { type: 'ExternalIP', address: '1.2.3.4' }],
      nodeInfo: { kubeletVersion: 'v1', osImage: 'os', kernelVersion: 'k', containerRuntimeVersion: 'r' } as NodeStatus['nodeInfo'],
    } as Partial<NodeStatus>
    const labels = { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/control-plane': '', 'kubernetes.io/role': 'x' }
    expect(cells(made({ unschedulable: true }, status, labels))).toEqual(['n', 'Ready,SchedulingDisabled', 'control-plane,worker,x', 'v1', '10.0.0.1', '1.2.3.4', 'os', 'k', 'r'])
  })
})
