import {
  localPathFinalizer,
  localPathNode,
  localPathProvisioner,
  storageClassOf,
} from '../../api/kinds/volumes/storage-classes.ts'
import type {
  Node,
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../api/generated/types.ts'
import { provisionedBy, referenceToClaim } from '../../api/kinds/volumes/volume-binding.ts'
import { requestedStorage } from '../../api/kinds/volumes/volume-matching.ts'
import type { New } from '../../client/index.ts'

const hostname = 'kubernetes.io/hostname'

/** The volume for a claim. */
export const volumeNameFor = ({ metadata }: PersistentVolumeClaim): string => `pvc-${metadata.uid}`

/** The reason why a claim and its class cannot be provisioned. Undefined if they can. */
export function whyRefused(
  { spec }: PersistentVolumeClaim,
  { mountOptions = [], parameters = {} }: StorageClass,
): string | undefined {
  const [parameter] = Object.keys(parameters)
  if (parameter !== undefined) return `unknown parameter ${JSON.stringify(parameter)}: local paths have no parameters`
  if (mountOptions.length > 0) return 'a local path has no mount options'
  if (spec.volumeMode === 'Block') return 'a local path is a directory, not a block device'
  if (spec.dataSource || spec.dataSourceRef) return 'a local path cannot be created from a data source'
  if (spec.selector) return 'a dynamically provisioned volume does not support a selector'
  const mode = spec.accessModes?.find((one) => one !== 'ReadWriteOnce' && one !== 'ReadWriteOncePod')
  return mode && `a local path is on one node: ReadWriteOnce and ReadWriteOncePod are possible, ${mode} is not`
}

export interface Place {
  /** The directory that contains all volumes, on every node. */
  root: string
  /** The name of the node. Undefined for any node. */
  node: string | undefined
  /** Undefined if the object does not exist. */
  nodeObject: Node | undefined
}

/** The volume for a claim: a directory of its own, which the node creates at the first mount. */
export function localPathVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  { root, node, nodeObject }: Place,
): New<PersistentVolume> {
  const { namespace, name: claimName } = claim.metadata
  const name = volumeNameFor(claim)
  const reclaimPolicy = storageClass.reclaimPolicy ?? 'Delete'
  const terms =
    node === undefined
      ? topologyTerms(storageClass)
      : [only(hostname, [nodeObject?.metadata.labels?.[hostname] ?? node])]
  return {
    metadata: {
      name,
      annotations: { [provisionedBy]: localPathProvisioner, ...(node === undefined ? {} : { [localPathNode]: node }) },
      ...(node !== undefined && reclaimPolicy === 'Delete' ? { finalizers: [localPathFinalizer] } : {}),
    },
    spec: {
      capacity: { storage: requestedStorage(claim) },
      accessModes: claim.spec.accessModes ?? [],
      volumeMode: 'Filesystem',
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClassOf(claim),
      ...(claim.spec.volumeAttributesClassName
        ? { volumeAttributesClassName: claim.spec.volumeAttributesClassName }
        : {}),
      claimRef: referenceToClaim(claim),
      hostPath: { path: `${root.replace(/\/+$/, '')}/${name}_${namespace}_${claimName}`, type: 'DirectoryOrCreate' },
      ...(terms.length > 0 ? { nodeAffinity: { required: { nodeSelectorTerms: terms } } } : {}),
    },
  }
}

const only = (key: string, values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key, operator: 'In', values }],
})

/** The allowed topologies of the class, if any. */
const topologyTerms = ({ allowedTopologies = [] }: StorageClass): NodeSelectorTerm[] =>
  allowedTopologies.map(({ matchLabelExpressions = [] }) => ({
    matchExpressions: matchLabelExpressions.map(({ key, values }) => ({ key, operator: 'In', values })),
  }))
