import { type FieldError, invalid } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'
import { isStandardResource } from './resource-names.ts'
import { checkResourceName, validateResourceQuantity } from '../containers/resource-requirements.ts'

/** Every resource name that Kubernetes defines can have a quota, except the one that only claims request. */
export const isStandardQuotaResource = (name: string): boolean => name !== 'storage' && isStandardResource(name)

/** Validates the hard limits of a quota. */
export function validateQuotaAmounts(amounts: Record<string, string> | undefined, path: Path): FieldError[] {
  const errors: FieldError[] = []
  for (const name of Object.keys(amounts ?? {}).sort()) {
    const at = () => path.key(name)
    checkResourceName(name, at, errors)
    if (!name.includes('/') && !isStandardQuotaResource(name))
      errors.push(invalid(at(), name, 'must be a standard resource for quota'))
    validateResourceQuantity(name, amounts![name]!, at, errors)
  }
  return errors
}

const podCount = ['pods']
const podResources = [...podCount, 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']

/** The scopes of a quota, and the resources that each scope supports. */
const resourcesOfScope: Record<string, readonly string[]> = {
  BestEffort: podCount,
  CrossNamespacePodAffinity: podResources,
  NotBestEffort: podResources,
  NotTerminating: podResources,
  PriorityClass: podResources,
  Terminating: podResources,
  VolumeAttributesClass: ['persistentvolumeclaims', 'requests.storage'],
}

export const isQuotaScope = (scope: string): boolean => Object.hasOwn(resourcesOfScope, scope)

/** True if a scope applies to a resource. An unknown scope applies to all. */
export const isScopeForResource = (scope: string, name: string): boolean =>
  !isQuotaScope(scope) || resourcesOfScope[scope]!.includes(name)
