import type { ObjectMeta } from '../object.ts'

/** The annotation that named the class before there was a field. */
export const betaStorageClass = 'volume.beta.kubernetes.io/storage-class'

/** The class of a volume or claim, '' if it has none. */
export const storageClassOf = (obj: { metadata: ObjectMeta; spec?: { storageClassName?: string } }): string =>
  obj.metadata.annotations?.[betaStorageClass] ?? obj.spec?.storageClassName ?? ''
