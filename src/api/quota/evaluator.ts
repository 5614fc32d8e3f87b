import type { ScopedResourceSelectorRequirement } from '../generated/types.ts'
import type { ResourceList } from '../kinds/resource-names.ts'
import type { KubeObject } from '../object.ts'

/** A request that may change what is used. */
export interface QuotaRequest<T extends KubeObject = KubeObject> {
  operation: 'CREATE' | 'UPDATE'
  /** '' for the main resource. */
  subresource: string
  object: T
  /** Absent for a create. */
  old: T | undefined
}

/** How objects of one kind are held to quotas. Pure. */
export interface QuotaEvaluator<T extends KubeObject = KubeObject> {
  /** Whether a quota's resource is one that these objects use. */
  uses(name: string): boolean
  /** What one object uses, by the names that quotas have for it. */
  usage(object: T, nowMs: number): ResourceList
  matchesScope(scope: ScopedResourceSelectorRequirement, object: T): boolean
  /** Whether a request can change what is used. */
  concerns(request: QuotaRequest<T>): boolean
  /** Whether a change of an object could change what it uses: quick, as most changes do not. */
  mayDiffer(before: T, after: T): boolean
  /** What an object has to say because a quota holds it to these resources, and does not: the end of a sentence. */
  unsaid?(names: readonly string[], object: T): string | undefined
}

/** `count/deployments.apps`: the name under which objects of any kind are counted. */
export const countName = (group: string, plural: string): string => (group ? `count/${plural}.${group}` : `count/${plural}`)

/** Whether the value of a scope is one that the requirement selects, as a label's would be. */
export function selectsValue({ operator, values = [] }: ScopedResourceSelectorRequirement, value: string | undefined): boolean {
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
