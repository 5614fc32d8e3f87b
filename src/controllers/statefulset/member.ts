import { type Cause, causeIn } from '../../api/explain/index.ts'
import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { claimNamesOf } from '../../api/kinds/volumes/volume-references.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { soonest } from '../../base/soonest.ts'
import { type Finders, availableAtMs, isPodFinished, isPodReady, isPodTerminating } from '../kit/workload/index.ts'
import {
  type ClaimOf,
  claimNameAt,
  newClaims,
  ordinalOf,
  ownClaims,
  podNameLabel,
  revisionOf,
  startOrdinal,
} from './identity.ts'

/** The input for reading the pods of a set, besides the pods. */
export interface Basis {
  set: StatefulSet
  matches: LabelMatcher
  /** The name of the update revision. */
  update: string
  claimOf: ClaimOf
  nodeOf?: Finders['nodeOf']
}

/** A pod of a set, with the facts that the set depends on. */
export interface Member {
  ordinal: number
  pod: Pod
  /** A `replica` has a desired ordinal, a `condemned` pod another one, and a `misfit` is no longer selected. */
  role: 'replica' | 'condemned' | 'misfit'
  revision: string
  isTerminating: boolean
  isFinished: boolean
  isPending: boolean
  /** Running and ready, even if terminating. */
  isReady: boolean
  /** Ready for at least minReadySeconds. */
  isAvailable: boolean
  /** Counts against maxUnavailable: terminating, or not available. */
  isUnavailable: boolean
  /** False if the label with the pod's name is missing. */
  isNamed: boolean
  /** Not terminating, and not of the update revision. */
  isOutdated: boolean
  /** True for a replica that the partition does not hold back. */
  isUpdatable: boolean
  /** True if the pod or its claims need an action, regardless of the rollout. */
  isNeedy: boolean
  /** The reason why the pod is not available. */
  cause: Cause | undefined
  /** The time at which a field changes without an event. */
  changesAtMs: number | undefined
}

/** Undefined for a pod whose name is not of this set. */
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
  const cause =
    isUnavailable && role !== 'misfit' ? causeIn(explained(basis, isUpdated || isKept, nowMs), pod) : undefined
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

/** A pod below the partition counts as updated. */
function explained({ set, claimOf, nodeOf }: Basis, isUpdated: boolean, nowMs: number): Parameters<typeof causeIn>[0] {
  const { minReadySeconds = 0 } = set.spec
  return {
    kind: 'StatefulSet',
    object: set,
    around: { nowMs, minReadySeconds, claimOf, nodeOf },
    isUpdated: () => isUpdated,
  }
}

function isNeedy(
  { set, claimOf }: Basis,
  { pod, ordinal, role, isFinished, isTerminating, isPending, isNamed }: Omit<Member, 'isNeedy'>,
): boolean {
  const { volumeClaimTemplates = [] } = set.spec
  const isLeft = !isFinished && !isTerminating
  if (role === 'replica' && ((isFinished && !isTerminating) || (isLeft && !isNamed))) return true
  if (volumeClaimTemplates.length === 0) return false
  // No event is received for a claim that the pod does not mount.
  const named = new Set(claimNamesOf(pod))
  if (volumeClaimTemplates.some((template) => !named.has(claimNameAt(set, template, ordinal)))) return true
  if (isLeft && isPending && newClaims(set, ordinal).some(({ metadata }) => !claimOf(metadata.name!))) return true
  return ownClaims({ set, claimOf }, { pod, ordinal }, role === 'condemned').length > 0
}
