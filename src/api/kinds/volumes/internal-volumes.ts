import type {
  LabelSelector,
  PersistentVolumeClaimSpec,
  PersistentVolumeSpec,
  TypedObjectReference,
} from '../../generated/types.ts'

/**
 * Volumes and claims as Kubernetes' messages print them: with the field names and order of its internal types, and
 * every field written out.
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

/** Common sources have all their internal fields. Legacy sources are printed with the fields that were set. */
const sourceDefaults: Record<string, Shape> = {
  hostPath: { path: '', type: null },
  nfs: { server: '', path: '', readOnly: false },
  local: { path: '', fsType: null },
  csi: {
    driver: '',
    volumeHandle: '',
    readOnly: false,
    fsType: '',
    volumeAttributes: null,
    controllerPublishSecretRef: null,
    nodeStageSecretRef: null,
    nodePublishSecretRef: null,
    controllerExpandSecretRef: null,
    nodeExpandSecretRef: null,
  },
}

const goNames: Record<string, string> = { fsType: 'FSType' }

const capital = (name: string) => goNames[name] ?? name[0]!.toUpperCase() + name.slice(1)

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [capital(name), inside(field)]))
}

/** The internal form of a volume source. */
export function internalVolumeSource(spec: PersistentVolumeSpec): Shape {
  return Object.fromEntries(
    Object.entries(sourceNames).map(([field, name]) => {
      const source = (spec as Record<string, unknown>)[field]
      const { volumeAttributes, ...shape } = { ...sourceDefaults[field], ...(source as Shape | undefined) }
      if (!source) return [name, null]
      // The driver defines the names of attributes, so they stay as they are.
      return [
        name,
        volumeAttributes === undefined
          ? inside(shape)
          : { ...(inside(shape) as Shape), VolumeAttributes: volumeAttributes },
      ]
    }),
  )
}

const reference = (ref: TypedObjectReference | undefined, withNamespace: boolean): Shape | null =>
  ref
    ? {
        APIGroup: ref.apiGroup ?? null,
        Kind: ref.kind,
        Name: ref.name,
        ...(withNamespace ? { Namespace: ref.namespace ?? null } : {}),
      }
    : null

// A selector has no internal type: it keeps its JSON names.
const selector = (labels: LabelSelector | undefined) => labels ?? null

/** The internal form of a claim's spec. */
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
