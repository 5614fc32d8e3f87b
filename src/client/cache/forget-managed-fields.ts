import type { KubeObject } from '../../api/object.ts'

/**
 * Removes managedFields from an object that was just read. Caches omit them: they are half of a pod's memory, and an
 * update without them leaves them unchanged.
 */
export function forgetManagedFields(object: KubeObject): void {
  const { managedFields: _, ...metadata } = object.metadata
  object.metadata = metadata
}
