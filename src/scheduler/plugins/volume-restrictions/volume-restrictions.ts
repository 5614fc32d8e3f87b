import { keyOf } from '../../../client/index.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'
import type { PodInfo } from '../../cluster/pod-info.ts'
import type { FilterPlugin, NodeFilter, Rejection } from '../plugin.ts'
import type { World } from '../world.ts'

const name = 'VolumeRestrictions'
const rejection: Rejection = {
  plugin: name,
  reasons: ['node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'],
  isFinal: false,
}

/** The ReadWriteOncePod claims of a pod. */
const exclusiveClaims = ({ claimKeys }: PodInfo, { claim }: World): string[] =>
  claimKeys.filter((key) => claim(key)?.spec.accessModes?.includes('ReadWriteOncePod'))

/** The number of pods on any node that use the same ReadWriteOncePod claims. */
class ExclusiveFilter implements NodeFilter {
  readonly #keys: readonly string[]
  #users = 0

  constructor(keys: readonly string[], nodes: readonly NodeInfo[]) {
    this.#keys = keys
    for (const { claims } of nodes) for (const key of keys) this.#users += claims.get(key) ?? 0
  }

  check(): Rejection | undefined {
    return this.#users > 0 ? rejection : undefined
  }

  podAdded(pod: PodInfo): void {
    this.#users += this.#shared(pod)
  }

  podRemoved(pod: PodInfo): void {
    this.#users -= this.#shared(pod)
  }

  #shared({ claimKeys }: PodInfo): number {
    return claimKeys.filter((key) => this.#keys.includes(key)).length
  }
}

const sharesClaim = (a: PodInfo, b: PodInfo): boolean => a.claimKeys.some((key) => b.claimKeys.includes(key))

/** Permits one pod at a time to use a ReadWriteOncePod claim. */
export const volumeRestrictions: FilterPlugin = {
  name,
  filter(pod, world) {
    const keys = exclusiveClaims(pod, world)
    return keys.length === 0 ? undefined : new ExclusiveFilter(keys, world.cluster.nodes)
  },
  hears: ['AssignedPodDelete', 'PersistentVolumeClaim'],
  helps(event, pod) {
    if (event.kind === 'AssignedPodDelete') return sharesClaim(event.pod, pod)
    return event.kind === 'PersistentVolumeClaim' && pod.claimKeys.includes(keyOf(event.claim))
  },
}
