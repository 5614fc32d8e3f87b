import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  OpaqueDeviceConfiguration,
  ResourceClaimSpec,
} from '../../../api/generated/types.ts'
import { jsonText } from '../../../api/json/index.ts'
import { type FieldError, invalid, notSupported, required, tooLong } from '../../../api/validation/field-error.ts'
import { byteLength, isLabelKey, isLabelValue } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'
import {
  validateDeviceClassName,
  validateDriverName,
  validateFullAttributeName,
  validateList,
  validateShortName,
  validateUnique,
} from './device-names.ts'

const maxRequests = 32
export const maxConfigs = 32
const maxSelectors = 32
const maxConstraints = 32
const maxAlternatives = 8
export const maxTolerations = 16
const maxExpressionBytes = 10 * 1024
const maxParametersBytes = 10 * 1024

export const taintEffects = ['NoExecute', 'NoSchedule', 'None']
const unknownRequest =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

/** The request names of a claim, each with the names of its subrequests. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>

export const requestNamesOf = (claim: DeviceClaim | undefined): RequestNames =>
  new Map(
    (claim?.requests ?? []).map(({ name, firstAvailable = [] }) => [name, new Set(firstAvailable.map((r) => r.name))]),
  )

export const validateClaimSpec = (spec: ResourceClaimSpec, path: Path): FieldError[] =>
  validateDeviceClaim(spec.devices ?? {}, path.child('devices'))

function validateDeviceClaim(claim: DeviceClaim, path: Path): FieldError[] {
  const names = requestNamesOf(claim)
  return [
    ...validateUnique(claim.requests, maxRequests, validateRequest, (r) => r.name, path.child('requests')),
    ...validateList(
      claim.constraints,
      maxConstraints,
      (c, at) => validateConstraint(c, names, at),
      path.child('constraints'),
    ),
    ...validateList(claim.config, maxConfigs, (c, at) => validateClaimConfig(c, names, at), path.child('config')),
  ]
}

function validateRequest(request: DeviceRequest, path: Path): FieldError[] {
  const errors = validateShortName(request.name, path.child('name'))
  const alternatives = request.firstAvailable ?? []
  const sentence = 'exactly one of `exactly` or `firstAvailable` is required'
  if (request.exactly && alternatives.length)
    errors.push(invalid(path, null, `${sentence}, but multiple fields are set`))
  else if (request.exactly) errors.push(...validateExact(request.exactly, path.child('exactly')))
  else if (!alternatives.length) errors.push(required(path, sentence))
  else
    errors.push(
      ...validateUnique(
        alternatives,
        maxAlternatives,
        validateAlternative,
        (r) => r.name,
        path.child('firstAvailable'),
      ),
    )
  return errors
}

const validateAlternative = (request: DeviceSubRequest, path: Path): FieldError[] => [
  ...validateShortName(request.name, path.child('name')),
  ...validateExact(request, path),
]

const validateExact = (request: ExactDeviceRequest | DeviceSubRequest, path: Path): FieldError[] => [
  ...validateDeviceClassName(request.deviceClassName, path.child('deviceClassName')),
  ...validateSelectors(request.selectors, path.child('selectors')),
  ...validateAllocationMode(request, path),
  ...validateList(request.tolerations, maxTolerations, validateToleration, path.child('tolerations')),
]

function validateAllocationMode(
  { allocationMode: mode, count = 0 }: ExactDeviceRequest | DeviceSubRequest,
  path: Path,
): FieldError[] {
  if (mode === 'All')
    return count === 0
      ? []
      : [invalid(path.child('count'), count, `must not be specified when allocationMode is 'All'`)]
  if (mode === 'ExactCount') return count > 0 ? [] : [invalid(path.child('count'), count, 'must be greater than zero')]
  return [notSupported(path.child('allocationMode'), mode ?? '', ['All', 'ExactCount'])]
}

/** Validates that each selector has an expression within the length limit. */
export const validateSelectors = (selectors: readonly DeviceSelector[] | undefined, path: Path): FieldError[] =>
  validateList(selectors, maxSelectors, validateSelector, path)

function validateSelector({ cel }: DeviceSelector, path: Path): FieldError[] {
  if (!cel) return [required(path.child('cel'))]
  const at = path.child('cel', 'expression')
  if (!cel.expression) return [required(at)]
  return byteLength(cel.expression) > maxExpressionBytes ? [tooLong(at, maxExpressionBytes)] : []
}

export function validateToleration(toleration: DeviceToleration, path: Path): FieldError[] {
  const { key, operator = '', value = '', effect } = toleration
  const errors: FieldError[] = []
  if (key) errors.push(...isLabelKey(key).map((problem) => invalid(path.child('key'), key, problem)))
  if (operator === '') errors.push(required(path.child('operator')))
  else if (operator === 'Equal')
    errors.push(...isLabelValue(value).map((problem) => invalid(path.child('value'), value, problem)))
  else if (operator !== 'Exists') errors.push(notSupported(path.child('operator'), operator, ['Equal', 'Exists']))
  else if (value !== '') errors.push(invalid(path.child('value'), value, 'must be empty for operator `Exists`'))
  if (effect && !taintEffects.includes(effect)) errors.push(notSupported(path.child('effect'), effect, taintEffects))
  return errors
}

function validateConstraint(constraint: DeviceConstraint, names: RequestNames, path: Path): FieldError[] {
  const { matchAttribute, distinctAttribute, requests } = constraint
  const errors = validateRequestReferences(requests, names, path.child('requests'))
  if (matchAttribute !== undefined) {
    errors.push(...validateFullAttributeName(matchAttribute, path.child('matchAttribute')))
  } else if (distinctAttribute !== undefined) {
    errors.push(...validateFullAttributeName(distinctAttribute, path.child('distinctAttribute')))
  } else {
    errors.push(
      required(path, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'),
    )
  }
  return errors
}

/** Validates references to requests, `request` or `request/subrequest`. */
export const validateRequestReferences = (
  requests: readonly string[] | undefined,
  names: RequestNames,
  path: Path,
): FieldError[] =>
  validateUnique(
    requests,
    maxRequests,
    (name, at) => validateRequestReference(name, names, at),
    (name) => name,
    path,
  )

export function validateRequestReference(name: string, names: RequestNames, path: Path): FieldError[] {
  const parts = name.split('/')
  if (parts.length > 2) return [invalid(path, name, unknownRequest)]
  const [request = '', alternative] = parts
  const alternatives = names.get(request)
  const isKnown = alternatives && (alternative === undefined || alternatives.has(alternative))
  return [
    ...parts.flatMap((part) => validateShortName(part, path)),
    ...(isKnown ? [] : [invalid(path, name, unknownRequest)]),
  ]
}

const validateClaimConfig = (config: DeviceClaimConfiguration, names: RequestNames, path: Path): FieldError[] => [
  ...validateRequestReferences(config.requests, names, path.child('requests')),
  ...validateOpaque(config.opaque, path.child('opaque')),
]

export const validateOpaque = (config: OpaqueDeviceConfiguration | undefined, path: Path): FieldError[] =>
  config
    ? [
        ...validateDriverName(config.driver, path.child('driver')),
        ...validateDriverData(config.parameters, maxParametersBytes, path.child('parameters')),
      ]
    : [required(path)]

/** Validates driver data: a JSON object within a length limit. */
export function validateDriverData(value: unknown, max: number, path: Path): FieldError[] {
  if (value === undefined || value === null) return [required(path)]
  if (byteLength(jsonText(value)) > max) return [tooLong(path, max)]
  return typeof value === 'object' && !Array.isArray(value)
    ? []
    : [invalid(path, '<value omitted>', 'must be a valid JSON object')]
}
