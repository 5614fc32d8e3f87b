import { deepEqual } from '../../../api/deep-equal.ts'
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaimConsumerReference,
  ResourceV1ResourceClaim,
} from '../../../api/generated/types.ts'
import { validateNodeSelector } from '../../../api/kinds/placement/affinity.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../../api/validation/field-error.ts'
import { formatIp, parseCidr } from '../../../api/validation/ip.ts'
import { byteLength } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { validateConditions } from '../policy/condition-rules.ts'
import {
  type RequestNames,
  maxConfigs,
  maxTolerations,
  requestNamesOf,
  validateDriverData,
  validateOpaque,
  validateRequestReference,
  validateRequestReferences,
  validateToleration,
} from './claim-validation.ts'
import {
  validateBindingConditions,
  validateDriverName,
  validateList,
  validatePoolName,
  validateShortName,
  validateUnique,
} from './device-names.ts'

const maxConsumers = 256
const maxResults = 32
const maxDeviceConditions = 8
const maxDataBytes = 10 * 1024
const maxIps = 16
const interfaceMessage = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'

type DeviceName = { driver?: string; pool?: string; device?: string; shareID?: string }

/** Identifies a device or share within a claim. */
const idOf = ({ driver, pool, device, shareID }: DeviceName) =>
  `${driver}/${pool}/${device}${shareID ? `/${shareID}` : ''}`

/** Validates the status of a claim. An allocation is immutable until it is removed. */
export function validateClaimStatus(claim: ResourceV1ResourceClaim, old: ResourceV1ResourceClaim): FieldError[] {
  const path = Path.of('status')
  const { reservedFor = [], devices = [], allocation } = claim.status ?? {}
  const before = old.status ?? {}
  const allocated = new Set((allocation?.devices?.results ?? []).map(idOf))
  const errors = [
    ...validateUnique(reservedFor, maxConsumers, validateConsumer, (c) => c.uid, path.child('reservedFor')),
    ...validateUnique(
      devices,
      Infinity,
      (d, at) => validateDeviceStatus(d, allocated, at),
      idOf,
      path.child('devices'),
    ),
  ]
  if (reservedFor.length && !allocation) {
    errors.push(forbidden(path.child('reservedFor'), 'may not be specified when `allocated` is not set'))
  } else if (
    claim.metadata.deletionTimestamp &&
    reservedFor.some((c) => !(before.reservedFor ?? []).some((b) => deepEqual(b, c)))
  ) {
    const why = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
    errors.push(forbidden(path.child('reservedFor'), why))
  }
  if (!allocation) return errors
  if (before.allocation)
    return [...errors, ...validateImmutableField(allocation, before.allocation, path.child('allocation'))]
  return [...errors, ...validateAllocation(allocation, requestNamesOf(claim.spec.devices), path.child('allocation'))]
}

const validateConsumer = (consumer: ResourceClaimConsumerReference, path: Path): FieldError[] =>
  (['resource', 'name', 'uid'] as const).flatMap((field) => (consumer[field] ? [] : [required(path.child(field))]))

function validateAllocation(allocation: AllocationResult, names: RequestNames, path: Path): FieldError[] {
  const { results, config } = allocation.devices ?? {}
  const at = path.child('devices')
  const errors = [
    ...validateList(results, maxResults, (r, p) => validateResult(r, names, p), at.child('results')),
    // The limit applies to the configurations of class and claim each.
    ...validateList(config, 2 * maxConfigs, (c, p) => validateAllocationConfig(c, names, p), at.child('config')),
  ]
  if (allocation.nodeSelector) validateNodeSelector(allocation.nodeSelector, path.child('nodeSelector'), errors)
  return errors
}

const validateResult = (result: DeviceRequestAllocationResult, names: RequestNames, path: Path): FieldError[] => [
  ...validateRequestReference(result.request ?? '', names, path.child('request')),
  ...validateDriverName(result.driver, path.child('driver')),
  ...validatePoolName(result.pool, path.child('pool')),
  ...validateShortName(result.device, path.child('device')),
  ...validateBindingConditions(result, path),
  ...validateList(result.tolerations, maxTolerations, validateToleration, path.child('tolerations')),
  ...validateShareId(result.shareID, path.child('shareID')),
]

const validateAllocationConfig = (
  config: DeviceAllocationConfiguration,
  names: RequestNames,
  path: Path,
): FieldError[] => [
  ...validateSource(config.source, path.child('source')),
  ...validateRequestReferences(config.requests, names, path.child('requests')),
  ...validateOpaque(config.opaque, path.child('opaque')),
]

function validateSource(source: string | undefined, path: Path): FieldError[] {
  if (!source) return [required(path)]
  return source === 'FromClaim' || source === 'FromClass'
    ? []
    : [notSupported(path, source, ['FromClaim', 'FromClass'])]
}

function validateShareId(id: string | undefined, path: Path): FieldError[] {
  if (id === undefined) return []
  if (![32, 36, 38, 45].includes(id.length))
    return [invalid(path, id, `error validating uid: invalid UUID length: ${id.length}`)]
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return []
  const isUuid = /^(urn:uuid:)?\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?$/i.test(id)
  const normalized = '`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters'
  const why = isUuid
    ? `uid must be in RFC 4122 normalized form, ${normalized}`
    : 'error validating uid: invalid UUID format'
  return [invalid(path, id, why)]
}

function validateDeviceStatus(device: AllocatedDeviceStatus, allocated: ReadonlySet<string>, path: Path): FieldError[] {
  const errors = [
    ...validateDriverName(device.driver, path.child('driver')),
    ...validatePoolName(device.pool, path.child('pool')),
    ...validateShortName(device.device, path.child('device')),
    ...validateShareId(device.shareID, path.child('shareID')),
  ]
  if (!allocated.has(idOf(device))) errors.push(invalid(path, idOf(device), 'must be an allocated device in the claim'))
  const count = device.conditions?.length ?? 0
  if (count > maxDeviceConditions) errors.push(tooMany(path.child('conditions'), count, maxDeviceConditions))
  errors.push(...validateConditions(device.conditions, path.child('conditions')))
  if (device.data !== undefined && device.data !== null) {
    errors.push(...validateDriverData(device.data, maxDataBytes, path.child('data')))
  }
  return [...errors, ...validateNetworkData(device.networkData, path.child('networkData'))]
}

function validateNetworkData(data: NetworkDeviceData | undefined, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (byteLength(data?.interfaceName ?? '') > 256) errors.push(tooLong(path.child('interfaceName'), 256))
  if (byteLength(data?.hardwareAddress ?? '') > 128) errors.push(tooLong(path.child('hardwareAddress'), 128))
  return [...errors, ...validateUnique(data?.ips, maxIps, validateInterfaceAddress, (ip) => ip, path.child('ips'))]
}

/** Validates an interface address with prefix length. */
function validateInterfaceAddress(text: string, path: Path): FieldError[] {
  const cidr = parseCidr(text)
  if (!cidr) return [invalid(path, text, interfaceMessage)]
  const canonical = `${formatIp(cidr.address.family, cidr.address.value)}/${cidr.prefix}`
  return text === canonical ? [] : [invalid(path, text, `must be in canonical form ("${canonical}")`)]
}
