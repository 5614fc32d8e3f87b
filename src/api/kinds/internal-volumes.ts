import type { LabelSelector, PersistentVolumeClaimSpec, PersistentVolumeSpec, TypedObjectReference } from '../generated/types.ts'

/**
 * Volumes and claims as messages of Kubernetes show them: under the names and in the order they have inside Kubernetes, with every
 * field written out.
 */
type Shape = Record<string, unknown>

const sourceNames: Record<string, string> = {
  gcePersistentDisk: 'GCEPersistentDisk',
  awsElasticBlockStore: 'AWSElasticBlockStore',
  hostPath: 'HostPath',
  glusterfs: 'Glusterfs',
  nfs: 'NFS',
  rbd: 'RBD',
  quobyte: 'Quobyte',
  iscsi: 'ISCSI',
  flexVolume: 'FlexVolume',
  cinder: 'Cinder',
  cephfs: 'CephFS',
  fc: 'FC',
  flocker: 'Flocker',
  azureFile: 'AzureFile',
  vsphereVolume: 'VsphereVolume',
  azureDisk: 'AzureDisk',
  photonPersistentDisk: 'PhotonPersistentDisk',
  portworxVolume: 'PortworxVolume',
  scaleIO: 'ScaleIO',
  local: 'Local',
  storageos: 'StorageOS',
  csi: 'CSI',
}

/** The sources that are common today; the old ones are shown with the fields they were given. */
const sourceDefaults: Record<string, Shape> = {
  hostPath: { path: '', type: null },
  nfs: { server: '', path: '', readOnly: false },
  local: { path: '', fsType: null },
  csi: {
    driver: '', volumeHandle: '', readOnly: false, fsType: '', volumeAttributes: null, controllerPublishSecretRef: null, nodeStageSecretRef: null,
    nodePublishSecretRef: null, controllerExpandSecretRef: null, nodeExpandSecretRef: null,
  },
}

const goNames: Record<string, string> = { fsType: 'FSType' }

const capital = (name: string) => goNames[name] ?? name[0]!.toUpperCase() + name.slice(1)

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [capital(name), inside(field)]))
}

/** Where a volume's data is. */
export function internalVolumeSource(spec: PersistentVolumeSpec): Shape {
  return Object.fromEntries(
    Object.entries(sourceNames).map(([field, name]) => {
      const source = (spec as Record<string, unknown>)[field]
      const { volumeAttributes, ...shape } = { ...sourceDefaults[field], ...(source as Shape | undefined) }
      if (!source) return [name, null]
      // The names of attributes are the driver's own.
      return [name, volumeAttributes === undefined ? inside(shape) : { ...(inside(shape) as Shape), VolumeAttributes: volumeAttributes }]
    }),
  )
}

const reference = (ref: TypedObjectReference | undefined, withNamespace: boolean): Shape | null =>
  ref ? { APIGroup: ref.apiGroup ?? null, Kind: ref.kind, Name: ref.name, ...(withNamespace ? { Namespace: ref.namespace ?? null } : {}) } : null

// A selector has no inside of its own: it stands under the names that it has on the wire.
const selector = (labels: LabelSelector | undefined) => labels ?? null

/** What a claim asks for. */
export function internalClaimSpec(spec: PersistentVolumeClaimSpec): Shape {
  return {
    AccessModes: spec.accessModes ?? null,
    Selector: selector(spec.selector),
    Resources: { Limits: spec.resources?.limits ?? null, Requests: spec.resources?.requests ?? null },
    VolumeName: spec.volumeName ?? '',
    StorageClassName: spec.storageClassName ?? null,
    VolumeMode: spec.volumeMode ?? null,
    DataSource: reference(spec.dataSource, false),
    DataSourceRef: reference(spec.dataSourceRef, true),
    VolumeAttributesClassName: spec.volumeAttributesClassName ?? null,
  }
}
