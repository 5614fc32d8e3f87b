import { semanticEqual } from '../../../api/deep-equal.ts'
import type {
  Counter,
  CounterSet,
  Device,
  DeviceAttribute,
  DeviceCounterConsumption,
  DeviceTaint,
  ResourcePool,
  ResourceSliceSpec,
} from '../../../api/generated/types.ts'
import { validateNodeSelector } from '../../../api/kinds/placement/affinity.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, notSupported, required, tooLong } from '../../../api/validation/field-error.ts'
import { byteLength, isDns1123Subdomain, isLabelKey, isLabelValue } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'
import { taintEffects } from './claim-validation.ts'
import { validateCapacity } from './device-capacity.ts'
import {
  validateAttributeName,
  validateBindingConditions,
  validateDriverName,
  validateEntries,
  validateList,
  validatePoolName,
  validateRequiredShortName,
  validateShortName,
  validateUnique,
} from './device-names.ts'

const maxDevices = 128
const maxDevicesWithTaintsOrCounters = 64
const maxAttributes = 32
const maxTaints = 16
const maxCounterSets = 8
const maxCounters = 32
const maxConsumptions = 2
const maxValueBytes = 64

const number = String.raw`(0|[1-9]\d*)`
const release = String.raw`(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)`
const build = '[0-9a-zA-Z-]+'
const semanticVersion = new RegExp(
  String.raw`^${number}\.${number}\.${number}(-${release}(\.${release})*)?(\+${build}(\.${build})*)?$`,
)

/** Validates the spec of a slice. `old` is the stored one. */
export function validateSliceSpec(
  spec: ResourceSliceSpec,
  old: ResourceSliceSpec | undefined,
  path: Path,
): FieldError[] {
  const devices = spec.devices ?? []
  const isAdvanced = devices.some((d) => d.taints?.length || d.consumesCounters?.length)
  return [
    ...validateDriverName(spec.driver, path.child('driver')),
    ...validatePool(spec.pool ?? {}, path.child('pool')),
    ...(old ? validateSliceUpdate(spec, old, path) : []),
    ...validateSliceNodes(spec, path),
    ...(spec.sharedCounters && spec.devices
      ? [invalid(path, '', 'only one of `sharedCounters` or `devices` is allowed')]
      : []),
    ...validateUnique(
      devices,
      isAdvanced ? maxDevicesWithTaintsOrCounters : maxDevices,
      (device, at) =>
        validateDevice(
          device,
          old?.devices?.find((d) => d.name === device.name),
          spec.perDeviceNodeSelection === true,
          at,
        ),
      (device) => device.name,
      path.child('devices'),
    ),
    ...validateUnique(
      spec.sharedCounters,
      maxCounterSets,
      validateCounterSet,
      (set) => set.name,
      path.child('sharedCounters'),
    ),
  ]
}

const validateSliceUpdate = (spec: ResourceSliceSpec, old: ResourceSliceSpec, path: Path): FieldError[] => [
  ...validateImmutableField(spec.pool?.name, old.pool?.name, path.child('pool', 'name')),
  ...validateImmutableField(spec.driver, old.driver, path.child('driver')),
  ...validateImmutableField(spec.nodeName, old.nodeName, path.child('nodeName')),
]

function validatePool(
  { name, resourceSliceCount: count = 0, generation = 0 }: Partial<ResourcePool>,
  path: Path,
): FieldError[] {
  return [
    ...validatePoolName(name, path.child('name')),
    ...(count > 0 ? [] : [invalid(path.child('resourceSliceCount'), count, 'must be greater than zero')]),
    ...(generation < 0 ? [invalid(path.child('generation'), generation, 'must be greater than or equal to zero')] : []),
  ]
}

const validateNodeName = (name: string, path: Path): FieldError[] =>
  isDns1123Subdomain(name).map((problem) => invalid(path, name, problem))

/** Validates that exactly one field sets the nodes of a slice. */
function validateSliceNodes(spec: ResourceSliceSpec, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const set: string[] = []
  if (spec.nodeName === '')
    errors.push(invalid(path.child('nodeName'), '', 'must be either unset or set to a non-empty string'))
  if (spec.nodeName) {
    set.push('`nodeName`')
    errors.push(...validateNodeName(spec.nodeName, path.child('nodeName')))
  }
  if (spec.nodeSelector) {
    set.push('`nodeSelector`')
    validateNodeSelector(spec.nodeSelector, path.child('nodeSelector'), errors)
    const terms = spec.nodeSelector.nodeSelectorTerms ?? []
    const at = path.child('nodeSelector', 'nodeSelectorTerms')
    if (terms.length !== 1) errors.push(invalid(at, terms, 'must have exactly one node selector term'))
  }
  for (const field of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[field]) set.push(`\`${field}\``)
    else if (spec[field] === false)
      errors.push(invalid(path.child(field), false, 'must be either unset or set to true'))
  }
  const sentence = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
  if (set.length === 0) errors.push(required(path, sentence))
  if (set.length > 1) errors.push(invalid(path, `{${set.join(', ')}}`, `${sentence}, but multiple fields are set`))
  return errors
}

function validateDevice(device: Device, old: Device | undefined, hasNodes: boolean, path: Path): FieldError[] {
  const { attributes = {}, capacity = {} } = device
  const errors = validateShortName(device.name, path.child('name'))
  const count = Object.keys(attributes).length + Object.keys(capacity).length
  if (count > maxAttributes) {
    errors.push(invalid(path, count, `the total number of attributes and capacities must not exceed ${maxAttributes}`))
  }
  errors.push(
    ...validateEntries(attributes, Infinity, validateAttributeName, validateAttribute, path.child('attributes')),
  )
  if (!old || !semanticEqual(old.capacity, device.capacity)) {
    const isShared = device.allowMultipleAllocations === true
    const judge = (value: NonNullable<Device['capacity']>[string], at: Path) => validateCapacity(value, isShared, at)
    errors.push(...validateEntries(capacity, Infinity, validateAttributeName, judge, path.child('capacity')))
  }
  if (!old || !semanticEqual(old.taints, device.taints)) {
    errors.push(...validateList(device.taints, maxTaints, validateTaint, path.child('taints')))
  }
  errors.push(
    ...validateUnique(
      device.consumesCounters,
      maxConsumptions,
      validateConsumption,
      (c) => c.counterSet,
      path.child('consumesCounters'),
    ),
    ...validateDeviceNodes(device, hasNodes, path),
    ...validateBindingConditions(device, path),
  )
  return errors
}

function validateDeviceNodes(
  { nodeName, nodeSelector, allNodes }: Device,
  hasNodes: boolean,
  path: Path,
): FieldError[] {
  const flag = '`perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  if (!hasNodes) {
    if (nodeName === undefined && !nodeSelector && allNodes === undefined) return []
    return [invalid(path, null, `\`nodeName\`, \`nodeSelector\` and \`allNodes\` can only be set if ${flag}`)]
  }
  const errors: FieldError[] = []
  const set: string[] = []
  if (nodeName === '') errors.push(invalid(path.child('nodeName'), '', 'must not be empty'))
  if (nodeName) {
    set.push('`nodeName`')
    errors.push(...validateNodeName(nodeName, path.child('nodeName')))
  }
  if (nodeSelector) {
    set.push('`nodeSelector`')
    validateNodeSelector(nodeSelector, path.child('nodeSelector'), errors)
  }
  if (allNodes) set.push('`allNodes`')
  if (allNodes === false) errors.push(invalid(path.child('allNodes'), false, 'must be either unset or set to true'))
  const sentence = `exactly one of \`nodeName\`, \`nodeSelector\`, or \`allNodes\` is required when ${flag}`
  if (set.length === 0) errors.push(required(path, sentence))
  if (set.length > 1) errors.push(invalid(path, `{${set.join(', ')}}`, sentence))
  return errors
}

function validateAttribute(attribute: DeviceAttribute, path: Path): FieldError[] {
  const errors: FieldError[] = []
  for (const field of ['string', 'version'] as const) {
    const value = attribute[field]
    if (value === undefined) continue
    const at = path.child(field)
    if (field === 'version' && !semanticVersion.test(value)) {
      errors.push(invalid(at, value, 'must be a string compatible with semver.org spec 2.0.0'))
    }
    if (byteLength(value) > maxValueBytes) errors.push(tooLong(at, maxValueBytes))
  }
  const count = (['bool', 'int', 'string', 'version'] as const).filter((field) => attribute[field] !== undefined).length
  if (count !== 1) errors.push(invalid(path, count ? attribute : '', 'exactly one value must be specified'))
  return errors
}

function validateTaint({ key = '', value, effect }: DeviceTaint, path: Path): FieldError[] {
  const errors = isLabelKey(key).map((problem) => invalid(path.child('key'), key, problem))
  if (value) errors.push(...isLabelValue(value).map((problem) => invalid(path.child('value'), value, problem)))
  if (!effect) errors.push(required(path.child('effect')))
  else if (!taintEffects.includes(effect)) errors.push(notSupported(path.child('effect'), effect, taintEffects))
  return errors
}

const validateCounterSet = (set: CounterSet, path: Path): FieldError[] => [
  ...validateRequiredShortName(set.name, path.child('name')),
  ...validateCounters(set.counters, path.child('counters')),
]

const validateConsumption = (consumption: DeviceCounterConsumption, path: Path): FieldError[] => [
  ...validateRequiredShortName(consumption.counterSet, path.child('counterSet')),
  ...validateCounters(consumption.counters, path.child('counters')),
]

function validateCounters(counters: Record<string, Counter> | undefined, path: Path): FieldError[] {
  if (!counters || Object.keys(counters).length === 0) return [required(path)]
  return validateEntries(counters, maxCounters, validateShortName, () => [], path)
}
