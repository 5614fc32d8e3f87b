import type { KubeObject, ObjectMeta } from '../../object.ts'

/** The annotation that preceded the field `storageClassName`. */
export const betaStorageClass = 'volume.beta.kubernetes.io/storage-class'

/** The storage class of a volume or claim; '' if it has none. */
export const storageClassOf = (obj: { metadata: ObjectMeta; spec?: { storageClassName?: string } }): string =>
  obj.metadata.annotations?.[betaStorageClass] ?? obj.spec?.storageClassName ?? ''

const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

/** True if a StorageClass is marked as the default, for claims that name no class. */
export const isDefaultStorageClass = ({ metadata }: KubeObject): boolean =>
  defaultAnnotations.some((name) => metadata.annotations?.[name] === 'true')

/** True if a VolumeAttributesClass is marked as the default. */
export const isDefaultVolumeAttributesClass = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['volumeattributesclass.alpha.kubernetes.io/is-default-class'] === 'true'

/** The effective one of several default classes: the newest, or the first by name if they are equally old. */
export function newestClass<T extends KubeObject>(classes: readonly T[]): T | undefined {
  const at = (obj: T) => Date.parse(obj.metadata.creationTimestamp ?? '') || 0
  return [...classes].sort((a, b) => at(b) - at(a) || (a.metadata.name! < b.metadata.name! ? -1 : 1))[0]
}

/** The provisioner of local-path volumes. The names below are shared by the provisioner, node agents and users. */
export const localPathProvisioner = 'coxswain.dev/local-path'

/** On a volume whose directory a node must remove: the volume stays until the node has done so. */
export const localPathFinalizer = 'coxswain.dev/local-path'

/** On a volume: the node with its directory. */
export const localPathNode = 'coxswain.dev/local-path-node'

/** On a node whose agent removes the directories of deleted volumes, and then the finalizer. */
export const removesLocalPaths = 'coxswain.dev/removes-local-paths'

/** The name of the default class that is created if the cluster has none. */
export const standardClass = 'standard'
