import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from '../../../api/generated/types.ts'
import { networkpolicies } from './networkpolicies.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
const made = (spec: Partial<NetworkPolicySpec>): NetworkPolicy => {
  const policy = structuredClone({ metadata: { name: 'x' }, spec: { podSelector: {}, ...spec } }) as NetworkPolicy
  networkpolicies.defaults!(policy, ctx)
  return policy
}

test.each<[string, Partial<NetworkPolicySpec>, string[]]>([
  ['nothing said', {}, ['Ingress']],
  ['rules for egress', { egress: [{}] }, ['Ingress', 'Egress']],
  ['said so', { policyTypes: ['Egress'], egress: [{}] }, ['Egress']],
])('the types of a policy with %s', (_, spec, types) => expect(made(spec).spec?.policyTypes).toEqual(types))

test('ports are of TCP', () => {
  expect(made({ egress: [{ ports: [{ port: 80 }] }] }).spec?.egress).toEqual([{ ports: [{ port: 80, protocol: 'TCP' }] }])
})

describe('validate()', () => {
  const from = (peer: NetworkPolicyPeer) => ({ ingress: [{ from: [peer] }] })
  const to = (port: NetworkPolicyPort) => ({ egress: [{ ports: [port] }] })
  const at = 'spec.ingress[0].from[0]'
  const port = 'spec.egress[0].ports[0]'
  test.each<[string, Partial<NetworkPolicySpec>, string[]]>([
    ['everybody', { ingress: [{}] }, []],
    ['pods of a namespace', from({ podSelector: {}, namespaceSelector: {} }), []],
    ['a network without parts', from({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }), []],
    ['nobody', from({}), [`${at}: Required value: must specify a peer`]],
    ['a network and pods', from({ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }), [`${at}: Forbidden: may not specify both ipBlock and another peer`]],
    ['no network', from({ ipBlock: { cidr: '', except: ['abc'] } }), [`${at}.ipBlock.cidr: Required value`]],
    ['a part as large as the whole', from({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/8'] } }), [`${at}.ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``]],
    ['a part of the other family', from({ ipBlock: { cidr: '10.0.0.0/8', except: ['fd00::/64'] } }), [`${at}.ipBlock.except[0]: Invalid value: "fd00::/64": must be a strict subset of \`cidr\``]],
    ['a range of ports', to({ port: 80, endPort: 90 }), []],
    ['a range that goes down', to({ port: 80, endPort: 70 }), [`${port}.endPort: Invalid value: 80: must be greater than or equal to \`port\``]],
    ['a range from a name', to({ port: 'web', endPort: 90 }), [`${port}.endPort: Invalid value: 90: may not be specified when \`port\` is non-numeric`]],
    ['a range from nowhere', to({ endPort: 90 }), [`${port}.endPort: Invalid value: 90: may not be specified when \`port\` is not specified`]],
    ['a strange protocol', to({ protocol: 'X' }), [`${port}.protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"`]],
    ['a strange type', { policyTypes: ['Sideways'] }, ['spec.policyTypes[0]: Unsupported value: "Sideways": supported values: "Ingress", "Egress"']],
    ['three types', { policyTypes: ['Ingress', 'Egress', 'Ingress'] }, ['spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes']],
  ])('%s', (_, spec, errors) => expect(said(networkpolicies.validate(made(spec), ctx))).toEqual(errors))
})

test('validateUpdate() lets a strange network stay', () => {
  const strange = made({ ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.1/8' } }] }] })
  expect(networkpolicies.validate(strange, ctx)).toHaveLength(1)
  expect(networkpolicies.validateUpdate(strange, strange, ctx)).toEqual([])
  expect(networkpolicies.warnings!(strange, strange, ctx)).toEqual([
    'spec.ingress[0].from[0].ipBlock.cidr: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
  ])
})
