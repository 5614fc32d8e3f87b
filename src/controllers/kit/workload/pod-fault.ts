import { isInvalid } from '../../../api/errors.ts'
import type { AnyAction, Outcome } from '../definition.ts'
import { isNamespaceTerminating, judge } from '../errors.ts'
import { type Condition, type StoredCondition, findCondition, removeCondition, setCondition, setTimedCondition } from './conditions.ts'

export { refusalOf } from '../../../api/explain/index.ts'

/** Why a pod of a workload could not be made or deleted. */
export interface PodFault {
  reason: 'FailedCreate' | 'FailedDelete'
  error: Error
}

/** What a step could not do for pods. */
export function podFaultOf({ failed }: Pick<Outcome<AnyAction>, 'failed'>): PodFault | undefined {
  const fault = failed.find(({ action: { kind }, error }) => (kind === 'DeletePod' || kind.startsWith('Create') || kind === 'RenumberRevision') && isFault(error))
  return fault && { reason: fault.action.kind === 'DeletePod' ? 'FailedDelete' : 'FailedCreate', error: fault.error }
}

/** Whether a failure is one that has to be told: not that somebody was faster, that the namespace is going, or that a revision needs another name. */
export const isFault = (error: Error): boolean => judge(error) !== 'conflict' && !isNamespaceTerminating(error)

/** A fault after which no attempt can succeed before the workload is changed: it ends the progress. */
export const endsProgress = (fault: PodFault | undefined): fault is PodFault => fault?.reason === 'FailedCreate' && isInvalid(fault.error)

type Conditions = readonly StoredCondition[] | null | undefined

/**
 * Conditions with ReplicaFailure for as long as there is a fault, in the words of the newest one. `isTimed` for kinds whose conditions have a
 * `lastUpdateTime`.
 */
export function withFault(conditions: Conditions, fault: PodFault | undefined, nowMs: number, isTimed = true): Condition[] {
  if (!fault) return removeCondition(conditions, 'ReplicaFailure')
  const { reason, error } = fault
  const message = sameWords(findCondition(conditions, 'ReplicaFailure')?.message, error.message)
  return (isTimed ? setTimedCondition : setCondition)(conditions, { type: 'ReplicaFailure', status: 'True', reason, message }, nowMs)
}

/**
 * True if a pod that was refused has not been asked for again: a set that makes pods in order waits for another one
 * first. The refusal then stands as it was told. `made` are the names of pods that the step has made.
 */
export function isUntried(conditions: Conditions, made: readonly string[]): boolean {
  const { status, reason, message = '' } = findCondition(conditions, 'ReplicaFailure') ?? {}
  if (status !== 'True' || reason !== 'FailedCreate') return false
  const [, refused] = /\bpods? "([^"]*)"/i.exec(message) ?? []
  return refused === undefined ? made.length === 0 : !made.includes(refused)
}

/**
 * The newest message, but the old one where only the name of the pod differs: each attempt may name another pod, and
 * every status that is written has its owner reconciled, and the same tried, again.
 */
export function sameWords(old: string | undefined, message: string): string {
  const nameless = (text: string) => text.replace(/\b(pods?) "[^"]*"/gi, '$1')
  return old !== undefined && nameless(old) === nameless(message) ? old : message
}
