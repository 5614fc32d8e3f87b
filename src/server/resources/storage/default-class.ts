import type { KubeObject } from '../../../api/object.ts'

const defaultAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class']

/** Whether a StorageClass is marked as the one for claims that name none. */
export const isDefaultStorageClass = ({ metadata }: KubeObject): boolean =>
  defaultAnnotations.some((name) => metadata.annotations?.[name] === 'true')

/** Whether a VolumeAttributesClass is marked as the default. */
export const isDefaultVolumeAttributesClass = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['volumeattributesclass.alpha.kubernetes.io/is-default-class'] === 'true'
