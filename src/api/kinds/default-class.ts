import type { KubeObject } from '../object.ts'

const defaultAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class']

/** Whether a StorageClass is marked as the one for claims that name none. */
export const isDefaultStorageClass = ({ metadata }: KubeObject): boolean =>
  defaultAnnotations.some((name) => metadata.annotations?.[name] === 'true')

/** Whether a VolumeAttributesClass is marked as the default. */
export const isDefaultVolumeAttributesClass = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['volumeattributesclass.alpha.kubernetes.io/is-default-class'] === 'true'

/** Of several classes marked as default the one that counts: the newest, and of two of the same second the first by name. */
export function newestClass<T extends KubeObject>(classes: readonly T[]): T | undefined {
  const at = (obj: T) => Date.parse(obj.metadata.creationTimestamp ?? '') || 0
  return [...classes].sort((a, b) => at(b) - at(a) || (a.metadata.name! < b.metadata.name! ? -1 : 1))[0]
}
