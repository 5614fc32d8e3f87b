import type { ObjectMeta } from '../../../../api/object.ts'

export { betaStorageClass, storageClassOf } from '../../../../api/kinds/volumes/storage-classes.ts'

const shortModes: readonly [mode: string, short: string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

/** Formats access modes: `RWO,ROX`, each once, in this order. */
export const accessModesText = (modes: readonly string[] | undefined): string =>
  shortModes
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',')

/** The phase of a volume or claim; Terminating if it is being deleted. */
export const phaseOf = (obj: { metadata: ObjectMeta; status?: { phase?: string } }): string =>
  obj.metadata.deletionTimestamp ? 'Terminating' : (obj.status?.phase ?? '')
