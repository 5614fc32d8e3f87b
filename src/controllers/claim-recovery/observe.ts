import type { Node, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { awaitsMark } from '../../api/kinds/claim-recovery.ts'
import { keyOf, nodes, persistentvolumeclaims, persistentvolumes, pods } from '../../client/index.ts'
import type { Caches, ObserveContext } from '../kit/index.ts'
import { isConditionTrue, podsOfClaim } from '../kit/workload/index.ts'
import { claimNameAt, ordinalOf, startOrdinal } from '../statefulset/index.ts'
import type { Storage } from './provenance.ts'
import { type Recovery, recoveryOf } from './recovery.ts'
import { type Settings, settingsOf } from './settings.ts'
import { type Tries, triesOf } from './tries.ts'

/** A claim of a pod that has the name of one made from a template. */
export interface MemberClaim {
  claim: PersistentVolumeClaim
  /** What the pod calls it. */
  volume: string
  /** True if it counts as used: it does not say `never`. */
  isUsed: boolean
  /** Pods that name it, this one among them; of one that is used nobody asks. */
  users: readonly Pod[]
}

export interface Member {
  pod: Pod
  ordinal: number
  claims: readonly MemberClaim[]
  /** Its node is not ready: what it said last may be over. */
  isNodeLost: boolean
}

/** All that is known of a set when it is decided about. */
export interface Observed {
  set: StatefulSet
  settings: Settings
  recovery: Recovery | undefined
  tries: Tries
  /** Looked up when a pod is due, which is seldom: all volumes, claims and nodes of the cluster. */
  storage(): Storage
  nodes(): readonly Node[]
  /** Its pods, by ordinal. */
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

/** Whether the set wants a pod with this ordinal. */
export function isWanted(set: StatefulSet, ordinal: number): boolean {
  const start = startOrdinal(set)
  return ordinal >= start && ordinal < start + (set.spec.replicas ?? 1)
}
