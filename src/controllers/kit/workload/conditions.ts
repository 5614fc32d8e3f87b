import { type Cause, afterward, isWorthNaming } from '../../../api/explain/index.ts'
import type { Pod, PodCondition, ProgressMark } from '../../../api/generated/types.ts'
import { type Verb, shareOf } from '../../../api/printing/plural.ts'
import { timestamp } from '../../../api/object.ts'
import type { WorkloadCondition } from '../../../api/kinds/workloads/rollout-clock.ts'

export type { ProgressMark }

/** A condition as controllers write it. */
export type Condition = Omit<WorkloadCondition, 'lastUpdateTime' | 'observedGeneration'> & { lastUpdateTime?: string }

/** A condition as it may be stored. */
export type StoredCondition = Omit<WorkloadCondition, 'observedGeneration'>

/** The content of a condition without its times. */
export interface Saying {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
}

type Conditions = readonly StoredCondition[] | null | undefined

export const findCondition = (conditions: Conditions, type: string): Condition | undefined =>
  asTold(conditions).find((c) => c.type === type)

export const isConditionTrue = (conditions: Conditions, type: string): boolean =>
  findCondition(conditions, type)?.status === 'True'

export const removeCondition = (conditions: Conditions, type: string): Condition[] =>
  asTold(conditions).filter((c) => c.type !== type)

/** Sets a condition, in its previous position if it exists. The transition time changes only with the status. */
export const setCondition = (conditions: Conditions, next: Saying, nowMs: number): Condition[] =>
  put(conditions, { ...next, lastTransitionTime: transitionTime(findCondition(conditions, next.type), next, nowMs) })

/**
 * Sets a condition of a kind that has update times. The update time changes with status and reason, not with the
 * message: messages may name a pod, and must not restart the clock of a deadline.
 */
export function setTimedCondition(conditions: Conditions, next: Saying, nowMs: number): Condition[] {
  const old = findCondition(conditions, next.type)
  const isOld = old?.status === next.status && old.reason === next.reason
  return putTimed(conditions, next, nowMs, (isOld && old.lastUpdateTime) || timestamp(nowMs))
}

/** Sets the Progressing condition, whose clock and mark the caller decides. */
export function setClockedCondition(
  conditions: Conditions,
  next: Saying,
  nowMs: number,
  { clock: lastUpdateTime, mark: progress }: { clock: string | undefined; mark: ProgressMark | undefined },
): Condition[] {
  const lastTransitionTime = transitionTime(findCondition(conditions, next.type), next, nowMs)
  return put(conditions, {
    ...next,
    ...(lastUpdateTime ? { lastUpdateTime } : {}),
    lastTransitionTime,
    ...(progress ? { progress } : {}),
  })
}

function putTimed(conditions: Conditions, next: Saying, nowMs: number, lastUpdateTime: string): Condition[] {
  const lastTransitionTime = transitionTime(findCondition(conditions, next.type), next, nowMs)
  return put(conditions, { ...next, lastUpdateTime, lastTransitionTime })
}

const transitionTime = (old: Condition | undefined, { status }: Saying, nowMs: number): string =>
  (old?.status === status && old.lastTransitionTime) || timestamp(nowMs)

const put = (conditions: Conditions, next: Condition): Condition[] =>
  findCondition(conditions, next.type)
    ? asTold(conditions).map((c) => (c.type === next.type ? next : c))
    : [...asTold(conditions), next]

/** A null time is equivalent to a missing one, here and in the server. */
const asTold = (conditions: Conditions): readonly Condition[] => (conditions ?? []) as readonly Condition[]

/**
 * Texts about the first cause for the two conditions. A cause that every pod passes through is only named after the
 * deadline.
 */
export interface Why {
  /** Appended to the message before the deadline. Empty for none. */
  named: string
  /** Appended to the message after the deadline. */
  always: string
}

export const whyOf = (cause: Cause | undefined): Why => ({
  named: isWorthNaming(cause) ? afterward(cause) : '',
  always: afterward(cause),
})

/** The noun of the count: replicas, or the nodes of a DaemonSet. */
interface Counted {
  noun: string
  verb: Verb
  rest: string
}

const replicas: Counted = { noun: 'replica', verb: ['is', 'are'], rest: 'available' }
export const nodesWithPod: Counted = { noun: 'node', verb: ['has', 'have'], rest: 'an available pod' }

/** The Available condition for a number of replicas or nodes. */
export function sayAvailable(available: number, wanted: number, why: Why, { noun, verb, rest } = replicas): Saying {
  const isAvailable = available >= wanted
  return {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `${shareOf(available, wanted, noun, verb)} ${rest}.${isAvailable ? '' : why.named}`,
  }
}

/** Removes conditions that are no longer computed, because their content would become false. */
export const withoutConditions = <C extends { type: string }>(
  conditions: readonly C[] | null | undefined,
  types: readonly string[],
): C[] => (conditions ?? []).filter(({ type }) => !types.includes(type))

export const disruptionTarget = 'DisruptionTarget'

/**
 * The patch that sets DisruptionTarget on a pod that is about to be deleted. Undefined if the pod has the condition
 * already. A strategic merge for the status.
 */
export function disruptionPatch(pod: Pod, reason: string, message: string, nowMs: number): object | undefined {
  const old = findCondition(pod.status?.conditions, disruptionTarget)
  if (old?.status === 'True' && old.reason === reason && old.message === message) return undefined
  const lastTransitionTime = (old?.status === 'True' && old.lastTransitionTime) || timestamp(nowMs)
  const condition: PodCondition = { type: disruptionTarget, status: 'True', reason, message, lastTransitionTime }
  return { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } }
}
