import { type Cause, type Surroundings, causeOfPod } from '../../api/explain/index.ts'
import type { Pod } from '../../api/generated/types.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import type { RosterReader } from '../kit/index.ts'
import {
  type Causes,
  isPodAvailable,
  isPodFinished,
  isPodReady,
  isPodTerminating,
  noCauses,
} from '../kit/workload/index.ts'

/** A pod of an owner, with the facts that the owner depends on. */
export interface Member {
  pod: Pod
  /** `kept` counts as a replica, `misfit` is not selected, `going` is terminating. */
  role: 'kept' | 'misfit' | 'going'
  /** False for pods that do not count as replicas. */
  isReady: boolean
  isAvailable: boolean
  /** True if the pod has all labels of the template. */
  isLabeled: boolean
  /** The reason why the pod is not available. */
  cause: Cause | undefined
}

/** The numbers of an owner's pods. */
export interface Counts {
  kept: number
  ready: number
  available: number
  labeled: number
  going: number
}

export interface Tally extends Counts {
  misfits: Map<string, Pod>
  /** The causes of all pods that are not available. */
  causes: Causes
}

/** The input for reading pods, besides the pods. */
export interface Basis {
  matches: LabelMatcher
  hasTemplateLabels: LabelMatcher
  around: Omit<Surroundings, 'nowMs'>
}

export function readMember({ matches, hasTemplateLabels, around }: Basis, pod: Pod, nowMs: number): Member | undefined {
  if (isPodFinished(pod)) return undefined
  const isSelected = matches(pod.metadata.labels)
  const role = isPodTerminating(pod) ? 'going' : isSelected ? 'kept' : 'misfit'
  if (role === 'going' && !isSelected) return undefined
  const { minReadySeconds = 0 } = around
  return {
    pod,
    role,
    isReady: role === 'kept' && isPodReady(pod),
    isAvailable: role === 'kept' && isPodAvailable(pod, minReadySeconds, nowMs),
    isLabeled: role === 'kept' && hasTemplateLabels(pod.metadata.labels),
    cause: role === 'misfit' ? undefined : causeOfPod(pod, { ...around, nowMs }),
  }
}

/** The roster reader of an owner's pods. `name` identifies the input. */
export const replicaReader = (name: string, basis: Basis): RosterReader<Pod, Member, Tally> => ({
  basis: name,
  read: (pod, nowMs) => readMember(basis, pod, nowMs),
  empty: () => ({ kept: 0, ready: 0, available: 0, labeled: 0, going: 0, misfits: new Map(), causes: noCauses() }),
  add: (tally, key, member) => {
    count(tally, member, 1)
    if (member.role === 'misfit') tally.misfits.set(key, member.pod)
    if (member.cause) causesOf(tally, member).set(key, member.cause)
  },
  remove: (tally, key, member) => {
    count(tally, member, -1)
    tally.misfits.delete(key)
    causesOf(tally, member).delete(key)
  },
  sumOf: ({ misfits, causes: { staying, going }, ...counts }) => [
    counts,
    misfits.size,
    staying.size,
    staying.peek(),
    going.size,
    going.peek(),
  ],
  changesAtMs: ({ cause }) => cause?.changesAtMs,
})

const causesOf = ({ causes }: Tally, { role }: Member) => (role === 'going' ? causes.going : causes.staying)

/** Adds a member to the numbers, or removes it. */
export function count(tally: Counts, { role, isReady, isAvailable, isLabeled }: Member, by: 1 | -1): void {
  if (role === 'going') tally.going += by
  if (role !== 'kept') return
  tally.kept += by
  if (isReady) tally.ready += by
  if (isAvailable) tally.available += by
  if (isLabeled) tally.labeled += by
}
