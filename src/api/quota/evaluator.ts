import type { ScopedResourceSelectorRequirement } from '../generated/types.ts'
import type { ResourceList } from '../kinds/quantities/resource-names.ts'
import type { KubeObject } from '../object.ts'

/** A request that may change usage. */
export interface QuotaRequest<T extends KubeObject = KubeObject> {
  operation: 'CREATE' | 'UPDATE'
  /** The subresource; '' for the main resource. */
  subresource: string
  object: T
  /** The old object; absent for a create. */
  old: T | undefined
}

/** Computes the quota usage of one kind. Pure. */
export interface QuotaEvaluator<T extends KubeObject = KubeObject> {
  /** True if objects of the kind use the resource of a quota. */
  uses(name: string): boolean
  /** The usage of one object by quota resource name. */
  usage(object: T, nowMs: number): ResourceList
  matchesScope(scope: ScopedResourceSelectorRequirement, object: T): boolean
  /** True if a request can change usage. */
  concerns(request: QuotaRequest<T>): boolean
  /** Quick check whether an update may change usage, since most do not. */
  mayDiffer(before: T, after: T): boolean
  /**
   * The fields that an object must set because a quota limits these resources, if it does not: the end of a sentence.
   */
  unsaid?(names: readonly string[], object: T): string | undefined
}

/** The generic count resource: `count/deployments.apps`. */
export const countName = (group: string, plural: string): string =>
  group ? `count/${plural}.${group}` : `count/${plural}`

/** True if the requirement selects the value of a scope, as for labels. */
export function selectsValue(
  { operator, values = [] }: ScopedResourceSelectorRequirement,
  value: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'DoesNotExist':
      return value === undefined
    default:
      return value !== undefined
  }
}
