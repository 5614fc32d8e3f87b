import { kindNames } from '../../../api/kind-names.ts'
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '../../../api/generated/types.ts'
import { labelSelectorText, validateLabelSelector } from '../../../api/selectors/label-selector.ts'
import { notSupportedInOrder } from '../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, invalid, invalidEach, required } from '../../../api/validation/field-error.ts'
import { cidrContains, cidrWarnings, parseCidr, validateCidr } from '../../../api/validation/ip.ts'
import { isPortName, isPortNumber, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const specPath = Path.of('spec')
const policyTypes = ['Ingress', 'Egress']
const protocols = ['TCP', 'UDP', 'SCTP']

/** An ingress or egress rule. */
interface Rule {
  field: 'ingress' | 'egress'
  path: Path
  ports: readonly NetworkPolicyPort[]
  peers: readonly NetworkPolicyPeer[]
}

function rulesOf({ spec }: NetworkPolicy): Rule[] {
  const at = (field: Rule['field'], i: number) => ({ field, path: specPath.child(field).index(i) })
  return [
    ...(spec?.ingress ?? []).map((rule, i) => ({
      ...at('ingress', i),
      ports: rule.ports ?? [],
      peers: rule.from ?? [],
    })),
    ...(spec?.egress ?? []).map((rule, i) => ({ ...at('egress', i), ports: rule.ports ?? [], peers: rule.to ?? [] })),
  ]
}

const peerPath = ({ field, path }: Rule, i: number) => path.child(field === 'ingress' ? 'from' : 'to').index(i)

function validatePort({ protocol, port, endPort }: NetworkPolicyPort, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const [portPath, endPath] = [path.child('port'), path.child('endPort')]
  if (protocol !== undefined && !protocols.includes(protocol))
    errors.push(notSupportedInOrder(path.child('protocol'), protocol, protocols))
  if (port === undefined) {
    if (endPort !== undefined)
      errors.push(invalid(endPath, endPort, 'may not be specified when `port` is not specified'))
  } else if (typeof port === 'string') {
    if (endPort !== undefined) errors.push(invalid(endPath, endPort, 'may not be specified when `port` is non-numeric'))
    errors.push(...invalidEach(portPath, port, isPortName(port)))
  } else {
    errors.push(...invalidEach(portPath, port, isPortNumber(port)))
    if (endPort !== undefined) {
      // As in Kubernetes, the error quotes the port.
      if (endPort < port) errors.push(invalid(endPath, port, 'must be greater than or equal to `port`'))
      errors.push(...invalidEach(endPath, endPort, isPortNumber(endPort)))
    }
  }
  return errors
}

function validateIpBlock({ cidr, except = [] }: IPBlock, path: Path, stored: readonly string[]): FieldError[] {
  if (!cidr) return [required(path.child('cidr'))]
  const errors = validateCidr(cidr, path.child('cidr'), stored)
  const whole = parseCidr(cidr)
  if (!whole) return errors
  for (const [i, text] of except.entries()) {
    const at = path.child('except').index(i)
    errors.push(...validateCidr(text, at, stored))
    const part = parseCidr(text)
    if (!part) continue
    const isInside = cidrContains(whole, { ...part.address, value: part.network })
    if (!isInside || whole.prefix >= part.prefix) errors.push(invalid(at, text, 'must be a strict subset of `cidr`'))
  }
  return errors
}

function validatePeer(peer: NetworkPolicyPeer, path: Path, stored: readonly string[]): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer
  const errors: FieldError[] = []
  if (podSelector) errors.push(...validateLabelSelector(podSelector, path.child('podSelector')))
  if (namespaceSelector) errors.push(...validateLabelSelector(namespaceSelector, path.child('namespaceSelector')))
  if (ipBlock) errors.push(...validateIpBlock(ipBlock, path.child('ipBlock'), stored))
  if (!podSelector && !namespaceSelector && !ipBlock) errors.push(required(path, 'must specify a peer'))
  else if (ipBlock && (podSelector || namespaceSelector))
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'))
  return errors
}

const cidrsOf = (policy: NetworkPolicy): string[] =>
  rulesOf(policy).flatMap((rule) =>
    rule.peers.flatMap(({ ipBlock }) => (ipBlock ? [ipBlock.cidr, ...(ipBlock.except ?? [])] : [])),
  )

function validate(policy: NetworkPolicy, old?: NetworkPolicy): FieldError[] {
  const { spec } = policy
  const stored = old ? cidrsOf(old) : []
  const errors = validateLabelSelector(spec?.podSelector, specPath.child('podSelector'))
  for (const rule of rulesOf(policy)) {
    for (const [i, port] of rule.ports.entries()) errors.push(...validatePort(port, rule.path.child('ports').index(i)))
    for (const [i, peer] of rule.peers.entries()) errors.push(...validatePeer(peer, peerPath(rule, i), stored))
  }
  const types = spec?.policyTypes ?? []
  const typesPath = specPath.child('policyTypes')
  if (types.length > 2) return [...errors, invalid(typesPath, types, 'may not specify more than two policyTypes')]
  for (const [i, type] of types.entries()) {
    if (!policyTypes.includes(type)) errors.push(notSupportedInOrder(typesPath.index(i), type, policyTypes))
  }
  return errors
}

function warnings(policy: NetworkPolicy): string[] {
  return rulesOf(policy).flatMap((rule) =>
    rule.peers.flatMap(({ ipBlock }, i) => {
      if (!ipBlock) return []
      const path = peerPath(rule, i).child('ipBlock')
      const parts = (ipBlock.except ?? []).flatMap((part, j) => cidrWarnings(path.child('except').index(j), part))
      return [...cidrWarnings(path.child('cidr'), ipBlock.cidr), ...parts]
    }),
  )
}

export const networkpolicies = defineResource<NetworkPolicy>({
  ...kindNames.networkpolicies,
  nameRule: subdomainName,
  defaults(policy) {
    const spec = (policy.spec ??= { podSelector: {} })
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])])
      for (const port of rule.ports ?? []) port.protocol ??= 'TCP'
    if (!spec.policyTypes?.length) spec.policyTypes = spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress']
  },
  validate: (policy) => validate(policy),
  // As in Kubernetes, every error is duplicated.
  validateUpdate: (policy, old) => [...validate(policy, old), ...validate(policy, old)],
  warnings,
  generation: true,
  columns: [
    nameColumn(),
    {
      name: 'Pod-Selector',
      type: 'string',
      description:
        'podSelector selects the pods to which this NetworkPolicy object applies. The array of rules is applied to any pods selected by ' +
        "this field. An empty selector matches all pods in the policy's namespace. Multiple network policies can select the same set of " +
        'pods. In this case, the ingress rules for each are combined additively. This field is optional. If it is not specified, it ' +
        'defaults to an empty selector.',
      cell: (policy) => labelSelectorText(policy.spec?.podSelector),
    },
    ageColumn(),
  ],
})
