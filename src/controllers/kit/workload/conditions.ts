import type { ProgressMark } from '../../../api/generated/types.ts'
import { timestamp } from '../../../api/timestamp.ts'
import type { WorkloadCondition } from '../../../api/workload-condition.ts'

export type { ProgressMark }

/** A condition as controllers write it. */
export type Condition = Omit<WorkloadCondition, 'lastUpdateTime' | 'observedGeneration'> & { lastUpdateTime?: string }

/** A condition as it may be stored. */
export type StoredCondition = Omit<WorkloadCondition, 'observedGeneration'>

/** What a condition says, without its times. */
export interface Saying {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
}

type Conditions = readonly StoredCondition[] | null | undefined

export const findCondition = (conditions: Conditions, type: string): Condition | undefined => asTold(conditions).find((c) => c.type === type)

export const isConditionTrue = (conditions: Conditions, type: string): boolean => findCondition(conditions, type)?.status === 'True'

export const removeCondition = (conditions: Conditions, type: string): Condition[] => asTold(conditions).filter((c) => c.type !== type)

/** Puts a condition among the others, in its old place if it had one. Only another status is a transition. */
export const setCondition = (conditions: Conditions, next: Saying, nowMs: number): Condition[] =>
  put(conditions, { ...next, lastTransitionTime: transitionTime(findCondition(conditions, next.type), next, nowMs) })

/**
 * The same for kinds whose conditions have an update time. It moves with status and reason. A mere change of words does not move it: messages may name a
 * pod, and the clock of a deadline must not start anew with every pod that is named.
 */
export function setTimedCondition(conditions: Conditions, next: Saying, nowMs: number): Condition[] {
  const old = findCondition(conditions, next.type)
  const isOld = old?.status === next.status && old.reason === next.reason
  return putTimed(conditions, next, nowMs, (isOld && old.lastUpdateTime) || timestamp(nowMs))
}

/** The same for Progressing, whose clock and mark are the caller's to decide. */
export function setClockedCondition(
  conditions: Conditions, next: Saying, nowMs: number, lastUpdateTime: string | undefined, progress: ProgressMark | undefined,
): Condition[] {
  const lastTransitionTime = transitionTime(findCondition(conditions, next.type), next, nowMs)
  return put(conditions, { ...next, ...(lastUpdateTime ? { lastUpdateTime } : {}), lastTransitionTime, ...(progress ? { progress } : {}) })
}

function putTimed(conditions: Conditions, next: Saying, nowMs: number, lastUpdateTime: string): Condition[] {
  const lastTransitionTime = transitionTime(findCondition(conditions, next.type), next, nowMs)
  return put(conditions, { ...next, lastUpdateTime, lastTransitionTime })
}

const transitionTime = (old: Condition | undefined, { status }: Saying, nowMs: number): string =>
  (old?.status === status && old.lastTransitionTime) || timestamp(nowMs)

const put = (conditions: Conditions, next: Condition): Condition[] =>
  findCondition(conditions, next.type) ? asTold(conditions).map((c) => (c.type === next.type ? next : c)) : [...asTold(conditions), next]

/** A null among the times means the same as none, to us and to the server. */
const asTold = (conditions: Conditions): readonly Condition[] => (conditions ?? []) as readonly Condition[]
