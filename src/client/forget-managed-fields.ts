import type { KubeObject } from '../api/object.ts'

/**
 * Takes managedFields from an object that has just been read. Caches go without them: they are half of a pod's memory, and an update
 * that leaves them out leaves them as they are.
 */
export function forgetManagedFields(object: KubeObject): void {
  const { managedFields: _, ...metadata } = object.metadata
  object.metadata = metadata
}
