import { isInvalid } from '../../../api/errors.ts'
import type { AnyAction, Outcome } from '../definition.ts'
import { isNamespaceTerminating, judge } from '../errors.ts'
import { type Condition, type StoredCondition, findCondition, removeCondition, setTimedCondition } from './conditions.ts'
import { RevisionTakenError } from './revisions.ts'

/** Why a pod of a workload could not be made or deleted. */
export interface PodFault {
  reason: 'FailedCreate' | 'FailedDelete'
  error: Error
}

/** What a step could not do for pods. */
export function podFaultOf({ failed }: Pick<Outcome<AnyAction>, 'failed'>): PodFault | undefined {
  const fault = failed.find(({ action: { kind }, error }) => (kind === 'DeletePod' || kind.startsWith('Create')) && isFault(error))
  return fault && { reason: fault.action.kind === 'DeletePod' ? 'FailedDelete' : 'FailedCreate', error: fault.error }
}

/** Whether a failure is one that has to be told: not that somebody was faster, that the namespace is going, or that a revision needs another name. */
export const isFault = (error: Error): boolean => judge(error) !== 'conflict' && !isNamespaceTerminating(error) && !(error instanceof RevisionTakenError)

/**
 * Conditions with ReplicaFailure for as long as there is a fault. It keeps the words it came with: another message may name another pod, and every status
 * that is written has its owner looked at, and the same tried, again. A pod that can never be made ends the progress, too.
 */
export function withFault(conditions: readonly StoredCondition[] | null | undefined, fault: PodFault | undefined, nowMs: number): Condition[] {
  if (!fault) return removeCondition(conditions, 'ReplicaFailure')
  const { reason, error } = fault
  const current = findCondition(conditions, 'ReplicaFailure')
  const message = current?.status === 'True' && current.reason === reason && current.message ? current.message : error.message
  const failing = setTimedCondition(conditions, { type: 'ReplicaFailure', status: 'True', reason, message }, nowMs)
  if (reason !== 'FailedCreate' || !isInvalid(error)) return failing
  return setTimedCondition(failing, { type: 'Progressing', status: 'False', reason, message }, nowMs)
}
