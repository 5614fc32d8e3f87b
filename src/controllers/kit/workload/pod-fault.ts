import { isInvalid } from '../../../api/errors.ts'
import type { AnyAction, Outcome } from '../definition.ts'
import { isNamespaceTerminating, judge } from '../errors.ts'
import {
  type Condition,
  type StoredCondition,
  findCondition,
  removeCondition,
  setCondition,
  setTimedCondition,
} from './conditions.ts'

export { refusalOf } from '../../../api/explain/index.ts'

/** The reason why a pod of a workload could not be created or deleted. */
export interface PodFault {
  reason: 'FailedCreate' | 'FailedDelete'
  error: Error
}

/** The pod operation of a step that failed. */
export function podFaultOf({ failed }: Pick<Outcome<AnyAction>, 'failed'>): PodFault | undefined {
  const fault = failed.find(
    ({ action: { kind }, error }) =>
      (kind === 'DeletePod' || kind.startsWith('Create') || kind === 'RenumberRevision') && isFault(error),
  )
  return fault && { reason: fault.action.kind === 'DeletePod' ? 'FailedDelete' : 'FailedCreate', error: fault.error }
}

/**
 * Reports whether a failure is shown to users. Conflicts, a terminating namespace and a revision that needs another
 * name are not.
 */
export const isFault = (error: Error): boolean => judge(error) !== 'conflict' && !isNamespaceTerminating(error)

/** True for a failure that no retry can resolve before the workload changes. It ends the progress. */
export const endsProgress = (fault: PodFault | undefined): fault is PodFault =>
  fault?.reason === 'FailedCreate' && isInvalid(fault.error)

type Conditions = readonly StoredCondition[] | null | undefined

/**
 * The conditions with ReplicaFailure while a fault exists, with the newest message. `isTimed` is set for kinds whose
 * conditions have a `lastUpdateTime`.
 */
export function withFault(
  conditions: Conditions,
  fault: PodFault | undefined,
  nowMs: number,
  isTimed = true,
): Condition[] {
  if (!fault) return removeCondition(conditions, 'ReplicaFailure')
  const { reason, error } = fault
  const message = sameWords(findCondition(conditions, 'ReplicaFailure')?.message, error.message)
  return (isTimed ? setTimedCondition : setCondition)(
    conditions,
    { type: 'ReplicaFailure', status: 'True', reason, message },
    nowMs,
  )
}

/**
 * True if a rejected pod has not been retried, because a set that creates pods in order waits for another one first.
 * The recorded rejection then stays. `made` are the names of the pods that the step created.
 */
export function isUntried(conditions: Conditions, made: readonly string[]): boolean {
  const { status, reason, message = '' } = findCondition(conditions, 'ReplicaFailure') ?? {}
  if (status !== 'True' || reason !== 'FailedCreate') return false
  const [, refused] = /\bpods? "([^"]*)"/i.exec(message) ?? []
  return refused === undefined ? made.length === 0 : !made.includes(refused)
}

/**
 * The newest message, or the old one if they differ only in the pod name. Each attempt may name another pod, and every
 * written status reconciles its owner, which would repeat the attempt endlessly.
 */
export function sameWords(old: string | undefined, message: string): string {
  const nameless = (text: string) => text.replace(/\b(pods?) "[^"]*"/gi, '$1')
  return old !== undefined && nameless(old) === nameless(message) ? old : message
}
