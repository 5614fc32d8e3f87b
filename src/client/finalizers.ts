import type { KubeObject } from '../api/object.ts'

/** Whether the object waits for this finalizer when it is deleted. */
export const hasFinalizer = (object: KubeObject, finalizer: string): boolean => object.metadata.finalizers?.includes(finalizer) ?? false

/** The object with the finalizer; the same object if it has it. What is handed in stays as it is. */
export function addFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  if (hasFinalizer(object, finalizer)) return object
  return withFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer])
}

/** The object without the finalizer; the same object if it has none such. What is handed in stays as it is. */
export function removeFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  if (!hasFinalizer(object, finalizer)) return object
  return withFinalizers(object, object.metadata.finalizers!.filter((f) => f !== finalizer))
}

/**
 * A merge patch to these finalizers. It names the version that was read: a merge patch replaces the whole list, and somebody else's
 * finalizer must not get lost with it.
 */
export const finalizersPatch = ({ metadata: { uid, resourceVersion, finalizers } }: KubeObject): object => ({
  metadata: { uid, resourceVersion, finalizers: finalizers?.length ? finalizers : null },
})

function withFinalizers<T extends KubeObject>(object: T, finalizers: string[]): T {
  const { finalizers: _old, ...metadata } = object.metadata
  return { ...object, metadata: finalizers.length ? { ...metadata, finalizers } : metadata }
}
