import { type Cause, causeIn } from '../../api/explain/index.ts'
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { claimNamesOf } from '../../api/kinds/pod-claims.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { soonest } from '../../base/soonest.ts'
import { type Finders, availableAtMs, isPodFinished, isPodReady, isPodTerminating } from '../kit/workload/index.ts'
import { ownClaims } from './claims.ts'
import { claimNameAt, newClaims, ordinalOf, podNameLabel, revisionOf, startOrdinal } from './identity.ts'

/** Finds the claims of a set by name. */
export type ClaimOf = (name: string) => PersistentVolumeClaim | undefined

/** The facts that the pods of a set are read by, besides the pods themselves. */
export interface Basis {
  set: StatefulSet
  matches: LabelMatcher
  /** The name of the revision that all replicas are to become. */
  update: string
  claimOf: ClaimOf
  nodeOf?: Finders['nodeOf']
}

/** A pod of a set with what the set goes by. */
export interface Member {
  ordinal: number
  pod: Pod
  /** `replica` has one of the wanted ordinals, `condemned` another, and `misfit` is not selected any more. */
  role: 'replica' | 'condemned' | 'misfit'
  revision: string
  isTerminating: boolean
  isFinished: boolean
  isPending: boolean
  /** Runs and is ready, even if it is on its way out. */
  isReady: boolean
  /** The same for long enough. */
  isAvailable: boolean
  /** What counts against maxUnavailable: going, or not ready for long enough. */
  isUnavailable: boolean
  /** False if the label that tells its name is missing. */
  isNamed: boolean
  /** To stay, and not of the new revision. */
  isOutdated: boolean
  /** True for a replica that the partition does not keep as it is. */
  isUpdatable: boolean
  /** True if something is to be done for it, or for its claims, wherever the rollout stands. */
  isNeedy: boolean
  /** Why it is not available. */
  cause: Cause | undefined
  /** The time at which it is something else without any event. */
  changesAtMs: number | undefined
}

/** Undefined for a pod whose name no pod of the set has. */
export function memberOf(basis: Basis, pod: Pod, nowMs: number): Member | undefined {
  const { set, matches, update } = basis
  const { name = '', labels } = pod.metadata
  const ordinal = ordinalOf(set, name)
  if (ordinal === undefined) return undefined
  const { minReadySeconds = 0, replicas = 1, updateStrategy } = set.spec
  const place = ordinal - startOrdinal(set)
  const role = !matches(labels) ? 'misfit' : place >= 0 && place < replicas ? 'replica' : 'condemned'
  const revision = revisionOf(pod)
  const phase = pod.status?.phase
  const isTerminating = isPodTerminating(pod)
  const isReady = phase === 'Running' && isPodReady(pod)
  const readyAtMs = isReady && minReadySeconds > 0 ? (availableAtMs(pod, minReadySeconds) ?? Infinity) : nowMs
  const isAvailable = isReady && readyAtMs <= nowMs
  const isUnavailable = isTerminating || !isAvailable
  const isKept = place < (updateStrategy.rollingUpdate?.partition ?? 0)
  const isUpdated = revision === update
  const cause = isUnavailable && role !== 'misfit' ? causeIn(explained(basis, isUpdated || isKept, nowMs), pod) : undefined
  const read = {
    ordinal,
    pod,
    role,
    revision,
    isTerminating,
    isFinished: isPodFinished(pod),
    isPending: phase === 'Pending',
    isReady,
    isAvailable,
    isUnavailable,
    isNamed: labels?.[podNameLabel] === name,
    isOutdated: !isTerminating && !isUpdated,
    isUpdatable: role === 'replica' && !isKept,
    cause,
    changesAtMs: soonest(isReady && !isAvailable && readyAtMs < Infinity ? readyAtMs : undefined, cause?.changesAtMs),
  } as const
  return { ...read, isNeedy: isNeedy(basis, read) }
}

/** A pod that the partition keeps is as updated as it is to be. */
function explained({ set, claimOf, nodeOf }: Basis, isUpdated: boolean, nowMs: number): Parameters<typeof causeIn>[0] {
  const { minReadySeconds = 0 } = set.spec
  return { kind: 'StatefulSet', object: set, around: { nowMs, minReadySeconds, claimOf, nodeOf }, isUpdated: () => isUpdated }
}

function isNeedy({ set, claimOf }: Basis, { pod, ordinal, role, isFinished, isTerminating, isPending, isNamed }: Omit<Member, 'isNeedy'>): boolean {
  const { volumeClaimTemplates = [] } = set.spec
  const isLeft = !isFinished && !isTerminating
  if (role === 'replica' && ((isFinished && !isTerminating) || (isLeft && !isNamed))) return true
  if (volumeClaimTemplates.length === 0) return false
  // A claim that the pod does not name may come and go unnoticed.
  const named = new Set(claimNamesOf(pod))
  if (volumeClaimTemplates.some((template) => !named.has(claimNameAt(set, template, ordinal)))) return true
  if (isLeft && isPending && newClaims(set, ordinal).some(({ metadata }) => !claimOf(metadata.name!))) return true
  return ownClaims(set, claimOf, pod, ordinal, role === 'condemned').length > 0
}
