import type {
  CSIStorageCapacity,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../api/generated/types.ts'
import { storageClassOf } from '../../../api/kinds/volumes/storage-classes.ts'
import { annotationOf, bindCompleted, boundVolume, selectedNode } from '../../../api/kinds/volumes/volume-binding.ts'
import {
  isDelayed,
  isReachableFrom,
  matchingVolume,
  requestedStorage,
} from '../../../api/kinds/volumes/volume-matching.ts'
import { compareQuantity } from '../../../api/numbers/quantity.ts'
import { labelSelectorMatches } from '../../../api/selectors/label-selector.ts'
import { keyOf } from '../../../client/index.ts'
import type { World } from '../world.ts'

/** The claims of a pod by state. */
export interface PodClaims {
  bound: readonly PersistentVolumeClaim[]
  /** Claims that are bound after the node is selected. */
  delayed: readonly PersistentVolumeClaim[]
  /** Claims that another component has to bind first. */
  immediate: readonly PersistentVolumeClaim[]
}

/** The operations before a pod can be bound to a node. */
export interface VolumePlan {
  /** Existing volumes. */
  bind: readonly { volume: PersistentVolume; claim: PersistentVolumeClaim }[]
  /** Claims for which a volume is provisioned on the node. */
  provision: readonly PersistentVolumeClaim[]
}

/** The provisioner of classes without dynamic provisioning. */
const noProvisioner = 'kubernetes.io/no-provisioner'

/** Reports whether a claim and its volume refer to each other. */
export const isFullyBound = (claim: PersistentVolumeClaim): boolean =>
  Boolean(claim.spec.volumeName) && annotationOf(claim, bindCompleted) !== ''

export function sortClaims(claims: readonly PersistentVolumeClaim[], { storageClass }: World): PodClaims {
  const unbound = claims.filter((claim) => !isFullyBound(claim))
  const isForUs = (claim: PersistentVolumeClaim) =>
    !claim.spec.volumeName && isDelayed(storageClass(storageClassOf(claim)))
  return {
    bound: claims.filter(isFullyBound),
    delayed: unbound.filter(isForUs),
    immediate: unbound.filter((claim) => !isForUs(claim)),
  }
}

const reasons = {
  conflict: 'node(s) had volume node affinity conflict',
  noVolume: "node(s) didn't find available persistent volumes to bind",
  noSpace: 'node(s) did not have enough free storage',
  noSuchVolume: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
}

/** Finds volumes on a node for the claims of a pod, or the reason in Kubernetes' words why there are none. */
export function findVolumes({ bound, delayed }: PodClaims, node: Node, world: World): VolumePlan | readonly string[] {
  const why = boundProblem(bound, node, world)
  const plan = planDelayed(delayed, node, world)
  const problems = [...(why ? [why] : []), ...('bind' in plan ? [] : plan)]
  return problems.length > 0 ? problems : plan
}

function boundProblem(claims: readonly PersistentVolumeClaim[], node: Node, world: World): string | undefined {
  for (const { spec } of claims) {
    const volume = world.volume(spec.volumeName!)
    if (!volume) return reasons.noSuchVolume
    if (!isReachableFrom(volume, node)) return reasons.conflict
  }
  return undefined
}

function planDelayed(
  claims: readonly PersistentVolumeClaim[],
  node: Node,
  world: World,
): VolumePlan | readonly string[] {
  const bind: { volume: PersistentVolume; claim: PersistentVolumeClaim }[] = []
  const provision: PersistentVolumeClaim[] = []
  // Small claims come first, so that they do not take a volume that a large one needs.
  for (const claim of claims.toSorted((a, b) => compareQuantity(requestedStorage(a), requestedStorage(b)))) {
    const chosenNode = annotationOf(claim, selectedNode) || world.volumePlans.nodeOf(keyOf(claim))
    if (chosenNode && chosenNode !== node.metadata.name) return [reasons.noVolume]
    const taken = new Set(bind.map(({ volume }) => volume.metadata.name))
    const volume = chosenNode ? undefined : matchingVolume(claim, openVolumes(claim, taken, world), { node })
    if (volume) {
      bind.push({ volume, claim })
      continue
    }
    const problem = provisioningProblem(claim, node, world)
    if (problem) return [problem]
    provision.push(claim)
  }
  return { bind, provision }
}

/**
 * The volumes that a claim could use: volumes assigned to it count as its own, volumes assigned to others are excluded.
 */
function openVolumes(
  claim: PersistentVolumeClaim,
  taken: ReadonlySet<string | undefined>,
  { volumesOfClass, volumePlans }: World,
): PersistentVolume[] {
  return volumesOfClass(storageClassOf(claim)).flatMap((volume) => {
    const promisedTo = volumePlans.claimOf(volume.metadata.name!)
    if (taken.has(volume.metadata.name) || (promisedTo !== undefined && promisedTo !== keyOf(claim))) return []
    return promisedTo === undefined ? volume : boundVolume(volume, claim)
  })
}

function provisioningProblem(claim: PersistentVolumeClaim, node: Node, world: World): string | undefined {
  const storageClass = world.storageClass(storageClassOf(claim))
  if (!storageClass?.provisioner || storageClass.provisioner === noProvisioner) return reasons.noVolume
  if (!isAllowedTopology(storageClass, node)) return reasons.noVolume
  return hasSpace(claim, storageClass, node, world) ? undefined : reasons.noSpace
}

const isAllowedTopology = ({ allowedTopologies = [] }: StorageClass, { metadata: { labels } }: Node): boolean =>
  allowedTopologies.length === 0 ||
  allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values = [] }) => values.includes(labels?.[key] ?? '')),
  )

/** Only drivers that report their capacity can lack it. */
function hasSpace(claim: PersistentVolumeClaim, storageClass: StorageClass, node: Node, world: World): boolean {
  if (!world.csiDriver(storageClass.provisioner)?.spec.storageCapacity) return true
  const wanted = requestedStorage(claim)
  const isEnough = ({ capacity, maximumVolumeSize }: CSIStorageCapacity) =>
    compareQuantity(maximumVolumeSize ?? capacity ?? '0', wanted) >= 0
  const isNear = ({ nodeTopology }: CSIStorageCapacity) =>
    nodeTopology !== undefined && labelSelectorMatches(nodeTopology, node.metadata.labels)
  return world.storageCapacities(storageClass.metadata.name!).some((capacity) => isEnough(capacity) && isNear(capacity))
}
