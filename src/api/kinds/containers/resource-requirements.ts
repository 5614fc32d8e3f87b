import type { ResourceRequirements } from '../../generated/types.ts'
import { compareQuantity, quantityIsInteger, quantitySign } from '../../numbers/quantity.ts'
import { type FieldError, duplicate, forbidden, invalid, notSupported, required } from '../../validation/field-error.ts'
import { nonnegativeMessage } from '../../validation/field-checks.ts'
import { isDns1123Label, isQualifiedName } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import {
  type ResourceList,
  isExtendedResource,
  isHugePages,
  isIntegerResource,
  isNativeResource,
  isOvercommitAllowed,
  isPodLevelResource,
  isStandardContainerResource,
  isStandardResource,
  isWholeHugePages,
} from '../quantities/resource-names.ts'

type NameCheck = (name: string, path: () => Path, errors: FieldError[]) => void

/** Validates a resource name: a qualified name, or one that Kubernetes defines. Returns false otherwise. */
export function checkResourceName(name: string, path: () => Path, errors: FieldError[]): boolean {
  const before = errors.length
  for (const problem of isQualifiedName(name)) errors.push(invalid(path(), name, problem))
  if (errors.length > before) return false
  if (name.includes('/') || isStandardResource(name)) return true
  errors.push(invalid(path(), name, 'must be a standard resource type or fully qualified'))
  return false
}

/** Validates the name of a resource that a container may request. */
export const checkContainerResourceName: NameCheck = (name, path, errors) => {
  if (isStandardContainerResource(name)) {
    // The size in the name of a huge page resource is arbitrary text.
    if (isHugePages(name)) checkResourceName(name, path, errors)
    return
  }
  checkResourceName(name, path, errors)
  if (!name.includes('/')) errors.push(invalid(path(), name, 'must be a standard resource for containers'))
  else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalid(path(), name, "doesn't follow extended resource name standard"))
  }
}

const checkPodResourceName: NameCheck = (name, path, errors) => {
  if (checkResourceName(name, path, errors) && !isPodLevelResource(name)) {
    errors.push(notSupported(path(), name, ['cpu', 'hugepages-', 'memory']))
  }
}

/** An amount must not be negative, and must be a whole number if the resource is counted. */
export function validateResourceQuantity(name: string, quantity: string, path: () => Path, errors: FieldError[]): void {
  if (quantitySign(quantity) < 0) errors.push(invalid(path(), quantity, nonnegativeMessage))
  if (isIntegerResource(name) && !quantityIsInteger(quantity))
    errors.push(invalid(path(), quantity, 'must be an integer'))
}

function sortedKeys(list: ResourceList | undefined): string[] {
  if (!list) return []
  const keys = Object.keys(list)
  return keys.length > 1 ? keys.sort() : keys
}

function validateAmount(
  name: string,
  quantity: string,
  path: () => Path,
  checkName: NameCheck,
  errors: FieldError[],
): void {
  checkName(name, path, errors)
  validateResourceQuantity(name, quantity, path, errors)
}

function validateHugePages(name: string, quantity: string, path: () => Path, errors: FieldError[]): void {
  if (isWholeHugePages(name, quantity)) return
  errors.push(invalid(path(), quantity, `${quantity} is not positive integer multiple of ${name}`))
}

function validateRequirements(
  resources: ResourceRequirements,
  path: Path,
  checkName: NameCheck,
  errors: FieldError[],
): void {
  let hasComputeResource = false
  let hasHugePages = false
  const note = (name: string) => {
    if (name === 'cpu' || name === 'memory') hasComputeResource = true
    if (isHugePages(name)) hasHugePages = true
  }
  const { limits, requests } = resources
  for (const name of sortedKeys(limits)) {
    const at = () => path.child('limits').key(name)
    validateAmount(name, limits![name]!, at, checkName, errors)
    note(name)
    if (isHugePages(name)) validateHugePages(name, limits![name]!, at, errors)
  }
  for (const name of sortedKeys(requests)) {
    const quantity = requests![name]!
    const at = () => path.child('requests').key(name)
    validateAmount(name, quantity, at, checkName, errors)
    validateAgainstLimit(name, quantity, limits?.[name], path, errors)
    note(name)
    if (isHugePages(name)) validateHugePages(name, quantity, at, errors)
  }
  if (hasHugePages && !hasComputeResource) errors.push(forbidden(path, 'HugePages require cpu or memory'))
}

function validateAgainstLimit(
  name: string,
  quantity: string,
  limit: string | undefined,
  path: Path,
  errors: FieldError[],
): void {
  if (limit === undefined) {
    if (!isOvercommitAllowed(name))
      errors.push(required(path.child('limits'), 'Limit must be set for non overcommitable resources'))
    return
  }
  if (quantity === limit) return
  const order = compareQuantity(quantity, limit)
  if (order !== 0 && !isOvercommitAllowed(name)) {
    errors.push(invalid(path.child('requests'), quantity, `must be equal to ${name} limit of ${limit}`))
  } else if (order > 0) {
    errors.push(invalid(path.child('requests'), quantity, `must be less than or equal to ${name} limit of ${limit}`))
  }
}

/** The names of a pod's resource claims, which containers may refer to. */
export type ClaimNames = ReadonlySet<string>

/** Validates the resource requirements of a container. */
export function validateContainerRequirements(
  resources: ResourceRequirements,
  claims: ClaimNames,
  path: Path,
  errors: FieldError[],
): void {
  if (resources.limits || resources.requests) validateRequirements(resources, path, checkContainerResourceName, errors)
  if (resources.claims) validateClaimReferences(resources.claims, claims, path.child('claims'), errors)
}

/** Validates pod-level resource requirements, which cannot have claims. */
export function validatePodLevelRequirements(resources: ResourceRequirements, path: Path, errors: FieldError[]): void {
  validateRequirements(resources, path, checkPodResourceName, errors)
}

function validateClaimReferences(
  references: NonNullable<ResourceRequirements['claims']>,
  claims: ClaimNames,
  path: Path,
  errors: FieldError[],
): void {
  const seen = new Set<string>()
  for (const [i, { name, request }] of references.entries()) {
    const at = path.index(i)
    if (!name) {
      errors.push(required(at))
      continue
    }
    if (seen.has(name)) {
      errors.push(duplicate(at, name))
    } else {
      const key = request ? `${name}/${request}` : name
      if (request)
        for (const problem of isDns1123Label(request)) errors.push(invalid(at.child('request'), request, problem))
      if (seen.has(key)) errors.push(duplicate(at, key))
      else if (!request) for (const other of seen) if (other.startsWith(`${name}/`)) errors.push(duplicate(at, name))
      seen.add(key)
    }
    if (claims.has(name)) continue
    const known = claims.size === 0 ? ' which is empty' : `: ${[...claims].sort().join(', ')}`
    errors.push({
      reason: 'FieldValueNotFound',
      field: at.toString(),
      message: `Not found: ${JSON.stringify(name)}: must be one of the names in pod.spec.resourceClaims${known}`,
    })
  }
}
