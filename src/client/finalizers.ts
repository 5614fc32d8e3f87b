import type { KubeObject } from '../api/object.ts'

/** Returns true if the object has this finalizer. */
export const hasFinalizer = (object: KubeObject, finalizer: string): boolean =>
  object.metadata.finalizers?.includes(finalizer) ?? false

/** Returns the object with the finalizer added; the same object if it already has it. The argument is not changed. */
export function addFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  if (hasFinalizer(object, finalizer)) return object
  return withFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer])
}

/** Returns the object without the finalizer; the same object if it does not have it. The argument is not changed. */
export function removeFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  if (!hasFinalizer(object, finalizer)) return object
  return withFinalizers(
    object,
    object.metadata.finalizers!.filter((f) => f !== finalizer),
  )
}

/**
 * Returns a merge patch that sets these finalizers. It contains the uid and resourceVersion that were read: a merge
 * patch replaces the whole list, and finalizers that others added must not be lost.
 */
export const finalizersPatch = ({ metadata: { uid, resourceVersion, finalizers } }: KubeObject): object => ({
  metadata: { uid, resourceVersion, finalizers: finalizers?.length ? finalizers : null },
})

function withFinalizers<T extends KubeObject>(object: T, finalizers: string[]): T {
  const { finalizers: _old, ...metadata } = object.metadata
  return { ...object, metadata: finalizers.length ? { ...metadata, finalizers } : metadata }
}
