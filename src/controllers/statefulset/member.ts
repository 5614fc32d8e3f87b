import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { availableAtMs, isPodFinished, isPodReady, isPodTerminating } from '../kit/workload/index.ts'
import { ordinalOf, podNameLabel, revisionOf } from './identity.ts'

/** A pod of a set with what the set goes by. To read many pods is most of what a look costs, so `KnownMembers` keeps what was read. */
export interface Member {
  ordinal: number
  pod: Pod
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
  /** Whether the label that tells its name is there. */
  isNamed: boolean
  /** Whether the set's selector, which never changes, selects it. */
  isSelected: boolean
}

/** Undefined for a pod whose name no pod of the set has. */
export function memberOf(set: StatefulSet, matches: LabelMatcher, pod: Pod, nowMs: number): Member | undefined {
  const { name = '', labels } = pod.metadata
  const ordinal = ordinalOf(set, name)
  if (ordinal === undefined) return undefined
  const phase = pod.status?.phase
  const isTerminating = isPodTerminating(pod)
  const isReady = phase === 'Running' && isPodReady(pod)
  const isAvailable = isReady && isLongEnough(set.spec.minReadySeconds ?? 0, pod, nowMs)
  return {
    ordinal,
    pod,
    revision: revisionOf(pod),
    isTerminating,
    isFinished: isPodFinished(pod),
    isPending: phase === 'Pending',
    isReady,
    isAvailable,
    isUnavailable: isTerminating || !isAvailable,
    isNamed: labels?.[podNameLabel] === name,
    isSelected: matches(labels),
  }
}

function isLongEnough(minReadySeconds: number, pod: Pod, nowMs: number): boolean {
  if (minReadySeconds === 0) return true
  const atMs = availableAtMs(pod, minReadySeconds)
  return atMs !== undefined && atMs <= nowMs
}
