import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { Node } from '../../../api/generated/types.ts'
import { isIntegerResource } from '../../../api/kinds/quantities/resource-names.ts'
import { compareQuantity, quantityIsInteger } from '../../../api/numbers/quantity.ts'
import { nonnegativeMessage, notSupportedInOrder } from '../../../api/validation/field-checks.ts'
import { type FieldError, duplicate, forbidden, invalid, required } from '../../../api/validation/field-error.ts'
import { cidrFamilyOf, cidrWarnings, validateCidr } from '../../../api/validation/ip.ts'
import { isLabelKey, isLabelValue, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const cidrsPath = Path.of('spec', 'podCIDRs')
// Kubernetes' path, from when taints were an annotation.
const taintsPath = Path.of('metadata', 'taints')
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

function defaults({ spec, status }: Node): void {
  if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity }
  if (!spec) return
  // podCIDR takes precedence over podCIDRs that do not begin with it.
  if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR]
  spec.podCIDR = spec.podCIDRs?.[0]
}

/** Drops dynamic kubelet configuration, which Kubernetes has removed. */
function dropConfig({ spec, status }: Partial<Pick<Node, 'spec' | 'status'>>): void {
  if (spec) spec.configSource = undefined
  if (status) status.config = undefined
}

function validateTaints(node: Node): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, { key = '', value = '', effect = '', timeAdded }] of (node.spec?.taints ?? []).entries()) {
    const path = taintsPath.index(i)
    errors.push(...isLabelKey(key).map((p) => invalid(path.child('key'), key, p)))
    const valueProblems = isLabelValue(value)
    if (valueProblems.length) errors.push(invalid(path.child('value'), value, valueProblems.join(';')))
    if (effect === '') errors.push(required(path.child('effect')))
    else if (!effects.includes(effect)) errors.push(notSupportedInOrder(path.child('effect'), effect, effects))
    if (seen.has(`${effect} ${key}`)) {
      // Kubernetes' message quotes its Go structure.
      const error = duplicate(path, { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null })
      errors.push({ ...error, message: `${error.message}: taints must be unique by key and effect pair` })
    }
    seen.add(`${effect} ${key}`)
  }
  return errors
}

function validateResources(node: Node): FieldError[] {
  const errors: FieldError[] = []
  for (const list of ['capacity', 'allocatable'] as const) {
    const amounts = node.status?.[list] ?? {}
    for (const name of Object.keys(amounts).sort()) {
      const path = Path.of('status', list, name)
      const amount = amounts[name]!
      if (compareQuantity(amount, '0') < 0) errors.push(invalid(path, amount, nonnegativeMessage))
      if (isIntegerResource(name) && !quantityIsInteger(amount))
        errors.push(invalid(path, amount, 'must be an integer'))
    }
  }
  return errors
}

function validateCidrs(cidrs: readonly string[], stored: readonly string[] = []): FieldError[] {
  const errors = cidrs.flatMap((cidr, i) => validateCidr(cidr, cidrsPath.index(i), stored))
  if (cidrs.length > 1 && (cidrs.length > 2 || cidrFamilyOf(cidrs[0]!) === cidrFamilyOf(cidrs[1]!))) {
    errors.push(invalid(cidrsPath, cidrs, 'may specify no more than one CIDR for each IP family'))
  }
  return errors
}

const validate = (node: Node, old?: Node): FieldError[] => [
  ...validateTaints(node),
  ...validateResources(node),
  ...validateCidrs(node.spec?.podCIDRs ?? [], old?.spec?.podCIDRs),
]

/** Validates immutable fields and the status. */
function validateChange(node: Node, old: Node): FieldError[] {
  const errors = validateResources(node)
  const seen = new Set<string>()
  for (const [i, { type, address }] of (node.status?.addresses ?? []).entries()) {
    const key = `${type} ${address}`
    if (seen.has(key)) errors.push(duplicate(Path.of('status', 'addresses').index(i), { Type: type, Address: address }))
    seen.add(key)
  }
  const [cidrs, before] = [node.spec?.podCIDRs ?? [], old.spec?.podCIDRs ?? []]
  if (before.length) {
    const changes = before.length === cidrs.length ? before.filter((c, i) => c !== cidrs[i]).length : 1
    for (let i = 0; i < changes; i++)
      errors.push(forbidden(cidrsPath, 'node updates may not change podCIDR except from "" to valid'))
  }
  if (old.spec?.providerID && old.spec.providerID !== node.spec?.providerID) {
    errors.push(
      forbidden(Path.of('spec', 'providerID'), 'node updates may not change providerID except from "" to valid'),
    )
  }
  errors.push(...validateTaints(node))
  if ((node.spec?.externalID ?? '') !== (old.spec?.externalID ?? ''))
    errors.push(forbidden(Path.of('spec', 'externalID'), 'may not be updated'))
  return errors
}

function statusText(node: Node): string {
  const ready = node.status?.conditions?.findLast((c) => c.type === 'Ready')
  const readiness = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'
  return node.spec?.unschedulable ? `${readiness},SchedulingDisabled` : readiness
}

function rolesText({ metadata }: Node): string {
  const roles = new Set<string>()
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith('node-role.kubernetes.io/')) roles.add(key.slice('node-role.kubernetes.io/'.length))
    else if (key === 'kubernetes.io/role') roles.add(value)
  }
  roles.delete('')
  return [...roles].sort().join(',') || '<none>'
}

const addressOf = (node: Node, type: string) =>
  node.status?.addresses?.find((a) => a.type === type)?.address ?? '<none>'

/** core/v1 Nodes. The status may be set at creation. */
export const nodes = defineResource<Node>({
  ...kindNames.nodes,
  nameRule: subdomainName,
  defaults,
  keepsStatusOnCreate: true,
  prepareForCreate: dropConfig,
  // The status is the stored one, and not part of this update.
  prepareForUpdate: ({ spec }) => dropConfig({ spec }),
  validate: (node) => validate(node),
  // As in Kubernetes, errors of both validations are duplicated.
  validateUpdate: (node, old) => [...validate(node, old), ...validateChange(node, old)],
  warnings: (node) => [
    ...(node.spec?.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...(node.spec?.podCIDRs ?? []).flatMap((cidr, i) => cidrWarnings(cidrsPath.index(i), cidr)),
  ],
  status: {
    prepare(node, old) {
      node.spec = old.spec
      if (node.status) node.status.config = undefined
    },
    validate: validateChange,
  },
  selectableFields: { 'spec.unschedulable': (node) => String(node.spec?.unschedulable ?? false) },
  columns: [
    nameColumn(),
    { name: 'Status', type: 'string', description: 'The status of the node', cell: statusText },
    { name: 'Roles', type: 'string', description: 'The roles of the node', cell: rolesText },
    ageColumn(),
    {
      name: 'Version',
      type: 'string',
      description: () => describeField('NodeSystemInfo', 'kubeletVersion'),
      cell: (node) => node.status?.nodeInfo?.kubeletVersion ?? '',
    },
    {
      name: 'Internal-IP',
      type: 'string',
      priority: 1,
      description: () => describeField('NodeStatus', 'addresses'),
      cell: (node) => addressOf(node, 'InternalIP'),
    },
    {
      name: 'External-IP',
      type: 'string',
      priority: 1,
      description: () => describeField('NodeStatus', 'addresses'),
      cell: (node) => addressOf(node, 'ExternalIP'),
    },
    {
      name: 'OS-Image',
      type: 'string',
      priority: 1,
      description: () => describeField('NodeSystemInfo', 'osImage'),
      cell: (node) => node.status?.nodeInfo?.osImage || '<unknown>',
    },
    {
      name: 'Kernel-Version',
      type: 'string',
      priority: 1,
      description: () => describeField('NodeSystemInfo', 'kernelVersion'),
      cell: (node) => node.status?.nodeInfo?.kernelVersion || '<unknown>',
    },
    {
      name: 'Container-Runtime',
      type: 'string',
      priority: 1,
      description: () => describeField('NodeSystemInfo', 'containerRuntimeVersion'),
      cell: (node) => node.status?.nodeInfo?.containerRuntimeVersion || '<unknown>',
    },
  ],
})
