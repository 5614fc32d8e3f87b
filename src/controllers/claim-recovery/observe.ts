import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { awaitsMark } from '../../api/kinds/workloads/claim-recovery.ts'
import { keyOf, nodes, persistentvolumeclaims, persistentvolumes, pods } from '../../client/index.ts'
import type { Caches, ObserveContext } from '../kit/index.ts'
import { isConditionTrue, podsOfClaim } from '../kit/workload/index.ts'
import { claimNameAt, ordinalOf, startOrdinal } from '../statefulset/identity.ts'
import { type Recovery, type Settings, type Tries, recoveryOf, settingsOf, triesOf } from './settings.ts'

/** The storage of the cluster: the volumes and claims of all namespaces. */
export interface Storage {
  volumes: readonly PersistentVolume[]
  claims: readonly PersistentVolumeClaim[]
}

/** A claim of a pod with the name of a claim template. */
export interface MemberClaim {
  claim: PersistentVolumeClaim
  /** The name of the pod's volume. */
  volume: string
  /** True unless the annotation says `never`. */
  isUsed: boolean
  /** The pods that mount the claim, including this one. Empty for a used claim. */
  users: readonly Pod[]
}

export interface Member {
  pod: Pod
  ordinal: number
  claims: readonly MemberClaim[]
  /** True if the node is not ready, so that its last report may be outdated. */
  isNodeLost: boolean
}

/** The input of a reconcile. */
export interface Observed {
  set: StatefulSet
  settings: Settings
  recovery: Recovery | undefined
  tries: Tries
  /** All volumes, claims and nodes of the cluster. Read only when a pod is due, which is rare. */
  storage(): Storage
  nodes(): readonly Node[]
  /** The pods of the set by ordinal. */
  members: readonly Member[]
  nowMs: number
}

export function observe({ caches, nowMs }: ObserveContext, set: StatefulSet): Observed {
  const settings = settingsOf(set)
  const isAsked = settings.kind === 'on' || settings.kind === 'observe'
  return {
    set,
    settings,
    recovery: recoveryOf(set),
    tries: triesOf(set) ?? {},
    storage: () => ({ volumes: caches.list(persistentvolumes), claims: caches.list(persistentvolumeclaims) }),
    nodes: () => caches.list(nodes),
    members: isAsked ? membersOf(caches, set) : [],
    nowMs,
  }
}

function membersOf(caches: Caches, set: StatefulSet): Member[] {
  const members: Member[] = []
  for (const pod of caches.owned(pods, set)) {
    const ordinal = ordinalOf(set, pod.metadata.name ?? '')
    if (ordinal === undefined) continue
    const isNodeLost = isLost(caches, pod.spec?.nodeName)
    members.push({ pod, ordinal, claims: claimsOf(caches, set, pod, ordinal), isNodeLost })
  }
  return members.sort((a, b) => a.ordinal - b.ordinal)
}

function isLost(caches: Caches, nodeName = ''): boolean {
  const node = caches.get(nodes, '', nodeName)
  return node !== undefined && !isConditionTrue(node.status?.conditions, 'Ready')
}

function claimsOf(caches: Caches, set: StatefulSet, pod: Pod, ordinal: number): MemberClaim[] {
  const names = new Set(set.spec.volumeClaimTemplates?.map((template) => claimNameAt(set, template, ordinal)))
  return (pod.spec?.volumes ?? []).flatMap(({ name: volume, persistentVolumeClaim }) => {
    const name = persistentVolumeClaim?.claimName ?? ''
    const claim = names.has(name) ? caches.get(persistentvolumeclaims, set.metadata.namespace ?? '', name) : undefined
    if (!claim) return []
    const isUsed = !awaitsMark(claim)
    return [{ claim, volume, isUsed, users: isUsed ? [] : podsOfClaim(caches, keyOf(claim)) }]
  })
}

/** Reports whether an ordinal is in the desired range. */
export function isWanted(set: StatefulSet, ordinal: number): boolean {
  const start = startOrdinal(set)
  return ordinal >= start && ordinal < start + (set.spec.replicas ?? 1)
}
