import type { PersistentVolumeClaim, Pod } from '../../../api/generated/types.ts'
import { deepEqual } from '../../../api/deep-equal.ts'
import { keyOf } from '../../../client/index.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'
import type { PodInfo } from '../../cluster/pod-info.ts'
import type { FilterPlugin, NodeFilter, Rejection, Reservation } from '../plugin.ts'
import type { World } from '../world.ts'
import { type PodClaims, type VolumePlan, findVolumes, sortClaims } from './find-volumes.ts'

const name = 'VolumeBinding'

/** Writes a plan to the API and waits until the claims are bound. */
export interface VolumeBinder {
  bind(pod: PodInfo, node: string, plan: VolumePlan, signal: AbortSignal): Promise<void>
}

const rejected = (reasons: readonly string[]): Rejection => ({ plugin: name, reasons, isFinal: true })
const unbound = rejected(['pod has unbound immediate PersistentVolumeClaims'])

/** The reason, in Kubernetes' words, why a claim cannot be used at all. */
function claimProblem(key: string, pod: Pod, claim: PersistentVolumeClaim | undefined): string | undefined {
  const claimName = key.slice(key.indexOf('/') + 1)
  const isEphemeral =
    pod.spec.volumes?.some((volume) => volume.ephemeral && `${pod.metadata.name}-${volume.name}` === claimName) ?? false
  if (!claim && isEphemeral) {
    return `waiting for ephemeral volume controller to create the persistentvolumeclaim ${JSON.stringify(claimName)}`
  }
  if (!claim) return `persistentvolumeclaim ${JSON.stringify(claimName)} not found`
  if (claim.status?.phase === 'Lost') {
    return `persistentvolumeclaim ${JSON.stringify(claimName)} bound to non-existent persistentvolume ${JSON.stringify(claim.spec.volumeName ?? '')}`
  }
  if (claim.metadata.deletionTimestamp) return `persistentvolumeclaim ${JSON.stringify(claimName)} is being deleted`
  const isOurs =
    !isEphemeral ||
    claim.metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === pod.metadata.uid)
  return isOurs
    ? undefined
    : `PVC ${key} was not created for pod ${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`
}

class VolumeFilter implements NodeFilter {
  readonly #pod: PodInfo
  readonly #claims: PodClaims
  readonly #world: World
  readonly #binder: VolumeBinder

  constructor(pod: PodInfo, claims: PodClaims, world: World, binder: VolumeBinder) {
    this.#pod = pod
    this.#claims = claims
    this.#world = world
    this.#binder = binder
  }

  check({ node }: NodeInfo): Rejection | undefined {
    const found = findVolumes(this.#claims, node, this.#world)
    return 'bind' in found ? undefined : rejected(found)
  }

  reserve({ node, name: nodeName }: NodeInfo): Reservation | undefined {
    const plan = findVolumes(this.#claims, node, this.#world)
    if (!('bind' in plan) || (plan.bind.length === 0 && plan.provision.length === 0)) return undefined
    const { volumePlans } = this.#world
    for (const { volume, claim } of plan.bind) volumePlans.promise(volume.metadata.name!, keyOf(claim))
    for (const claim of plan.provision) volumePlans.provision(keyOf(claim), nodeName)
    const undo = () =>
      volumePlans.forget(
        plan.bind.map(({ volume }) => volume.metadata.name!),
        plan.provision.map(keyOf),
      )
    return {
      settle: async (signal) => {
        await this.#binder.bind(this.#pod, nodeName, plan, signal)
        undo()
      },
      undo,
    }
  }
}

/** Rejects nodes on which claims of the pod have no volumes and cannot get any, and binds them on the selected node. */
export const volumeBinding = (binder: VolumeBinder): FilterPlugin => ({
  name,
  filter(pod, world) {
    if (pod.claimKeys.length === 0) return undefined
    for (const key of pod.claimKeys) {
      const problem = claimProblem(key, pod.pod, world.claim(key))
      if (problem) return rejected([problem])
    }
    const claims = sortClaims(
      pod.claimKeys.map((key) => world.claim(key)!),
      world,
    )
    return claims.immediate.length > 0 ? unbound : new VolumeFilter(pod, claims, world, binder)
  },
  hears: [
    'NodeAdd',
    'NodeUpdate',
    'PersistentVolumeClaim',
    'PersistentVolume',
    'StorageClass',
    'CSINode',
    'CSIDriver',
    'CSIStorageCapacity',
  ],
  helps(event, pod) {
    switch (event.kind) {
      case 'PersistentVolumeClaim':
        return pod.claimKeys.includes(keyOf(event.claim))
      case 'NodeUpdate':
        return !deepEqual(event.before.metadata.labels, event.node.metadata.labels)
      case 'StorageClass':
        return !event.before || !deepEqual(event.before.allowedTopologies, event.storageClass.allowedTopologies)
      case 'CSIDriver':
        return event.before?.spec.storageCapacity !== event.driver.spec.storageCapacity
      case 'CSINode':
        return !event.before
      default:
        return true
    }
  },
})
