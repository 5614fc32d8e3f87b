import type { PersistentVolumeClaimSpec, TypedLocalObjectReference } from '../../../api/generated/types.ts'

const isClaimOrSnapshot = ({ apiGroup, kind }: TypedLocalObjectReference): boolean =>
  (kind === 'PersistentVolumeClaim' && !apiGroup) || (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io')

/** The group is written out even where there is none. */
const groupOf = (ref: TypedLocalObjectReference) => (ref.apiGroup ?? null) as string

/**
 * A claim says where its first data comes from in an old field and in a new one. The old one takes only claims and snapshots and
 * forgets the rest; whichever is given is copied to the other. A reference into another namespace is behind a gate that is off by
 * default, and dropped. What a stored claim has stays.
 */
export function normaliseDataSources(spec: PersistentVolumeClaimSpec, old?: PersistentVolumeClaimSpec): void {
  if (spec.dataSourceRef?.namespace && !old?.dataSourceRef?.namespace) delete spec.dataSourceRef
  if (spec.dataSource && !old?.dataSource && !isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource
  const { dataSource, dataSourceRef } = spec
  if (dataSource && !dataSourceRef) spec.dataSourceRef = { apiGroup: groupOf(dataSource), kind: dataSource.kind, name: dataSource.name }
  if (dataSourceRef && !dataSource && !dataSourceRef.namespace) {
    spec.dataSource = { apiGroup: groupOf(dataSourceRef), kind: dataSourceRef.kind, name: dataSourceRef.name }
  }
}
