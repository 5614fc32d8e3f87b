import { type FieldError, invalid } from '../validation/field-error.ts'
import type { Path } from '../validation/path.ts'
import { isStandardResource } from './resource-names.ts'
import { checkResourceName, validateResourceQuantity } from './resource-requirements.ts'

/** Every name Kubernetes knows can be held to a quota, but for the one that only claims ask for. */
export const isStandardQuotaResource = (name: string): boolean => name !== 'storage' && isStandardResource(name)

/** Judges amounts by resource name, as a quota has them. */
export function validateQuotaAmounts(amounts: Record<string, string> | undefined, path: Path): FieldError[] {
  const errors: FieldError[] = []
  for (const name of Object.keys(amounts ?? {}).sort()) {
    const at = () => path.key(name)
    checkResourceName(name, at, errors)
    if (!name.includes('/') && !isStandardQuotaResource(name)) errors.push(invalid(at(), name, 'must be a standard resource for quota'))
    validateResourceQuantity(name, amounts![name]!, at, errors)
  }
  return errors
}

const podCount = ['pods']
const podResources = [...podCount, 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']

/** The scopes a quota can have, and what it can then hold. */
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

/** Whether a scope says anything of a resource; of a scope that is none, there is nothing to say. */
export const isScopeForResource = (scope: string, name: string): boolean => !isQuotaScope(scope) || resourcesOfScope[scope]!.includes(name)
