import type { KubeObject } from '../../api/object.ts'

/** Of several classes marked as default the one that counts: the newest, and of two of the same second the first by name. */
export function newestClass<T extends KubeObject>(classes: readonly T[]): T | undefined {
  const at = (obj: T) => Date.parse(obj.metadata.creationTimestamp ?? '') || 0
  return [...classes].sort((a, b) => at(b) - at(a) || (a.metadata.name! < b.metadata.name! ? -1 : 1))[0]
}
