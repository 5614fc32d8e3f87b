import { semanticEqual } from '../../api/deep-equal.ts'
import type { Json } from '../../api/object.ts'
import { decodeObject, fieldOf } from '../../api/schema/index.ts'
import type { ResourceType } from '../../client/index.ts'

/** The type of a kind's status, for kinds of Kubernetes' own groups: others may use the same names for other things. */
export function statusTypeOf({ group, kind }: Pick<ResourceType, 'group' | 'kind'>): string | undefined {
  if (group.includes('.') && !group.endsWith('.k8s.io')) return undefined
  const type = fieldOf(kind, 'status')?.type
  return type?.kind === 'struct' ? type.name : undefined
}

/**
 * Whether two statuses are the same once stored. Kubernetes leaves out some zeroes and writes out others: a status that was computed with
 * `readyReplicas: 0` is the stored one without it, and must not be written again and again.
 */
export function isSameStatus(typeName: string | undefined, a: unknown, b: unknown): boolean {
  if (semanticEqual(a, b)) return true
  if (!typeName || a === undefined || b === undefined) return false
  return semanticEqual(asStored(typeName, a), asStored(typeName, b))
}

function asStored(typeName: string, status: unknown): unknown {
  try {
    return decodeObject(typeName, status as Json).object
  } catch {
    return status // for the server to judge
  }
}
