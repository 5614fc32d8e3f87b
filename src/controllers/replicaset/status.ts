import type { Pod, ReplicaSetStatus } from '../../api/generated/types.ts'
import { selectorFromMap } from '../../api/selectors/label-selector.ts'
import type { Outcome } from '../kit/index.ts'
import { type Condition, findCondition, isPodAvailable, isPodReady, podFaultOf, removeCondition, setCondition, staysWhenDeleted, troubleText } from '../kit/workload/index.ts'
import type { Observed } from './observe.ts'
import type { Action } from './plan.ts'

/** What is true after a step: pods that were made or deleted just now count, so that nothing new is to be said once the caches have them. */
export function status(seen: Observed, outcome: Outcome<Action>): ReplicaSetStatus {
  const { pods, deleted, created } = after(seen, outcome)
  const hasTemplateLabels = selectorFromMap(seen.owner.spec?.template?.metadata?.labels)
  let [fullyLabeledReplicas, readyReplicas, availableReplicas] = [created, 0, 0]
  for (const pod of pods) {
    if (hasTemplateLabels(pod.metadata.labels)) fullyLabeledReplicas++
    if (isPodReady(pod)) readyReplicas++
    if (isPodAvailable(pod, seen.minReadySeconds, seen.nowMs)) availableReplicas++
  }
  const counts = { replicas: pods.length + created, fullyLabeledReplicas, readyReplicas, availableReplicas }
  const { terminating } = seen
  return {
    ...seen.owner.status,
    ...counts,
    ...(terminating ? { terminatingReplicas: terminating.length + deleted.filter(staysWhenDeleted).length } : {}),
    conditions: conditions(seen, outcome, counts, pods),
  }
}

interface After {
  /** Its own that were seen and are to stay. */
  pods: readonly Pod[]
  deleted: readonly Pod[]
  created: number
}

function after({ claimed: { kept } }: Observed, { done }: Outcome<Action>): After {
  if (done.length === 0) return { pods: kept, deleted: [], created: 0 }
  const own = new Set(kept)
  const deleted: Pod[] = []
  let created = 0
  for (const action of done) {
    if (action.kind === 'CreatePod') created++
    else if (action.kind === 'AdoptPod') own.add(action.pod)
    else if (action.kind === 'DeletePod' && own.delete(action.pod)) deleted.push(action.pod)
  }
  return { pods: [...own], deleted, created }
}

type Counts = Pick<Required<ReplicaSetStatus>, 'readyReplicas' | 'availableReplicas'>

function conditions({ owner, kind, wanted, minReadySeconds, nowMs }: Observed, outcome: Outcome<Action>, counts: Counts, pods: readonly Pod[]): Condition[] {
  const told = replicaFailure(owner.status?.conditions, outcome, nowMs)
  const { readyReplicas, availableReplicas } = counts
  if (availableReplicas >= wanted) {
    const message = `${kind} has minimum availability.`
    return setCondition(told, { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message }, nowMs)
  }
  const failure = findCondition(told, 'ReplicaFailure')
  const cause = failure ? ` ${failure.message}` : troubleText(pods) || notLongEnough(readyReplicas - availableReplicas, minReadySeconds)
  const message = `${availableReplicas} of ${wanted} replicas are available.${cause}`
  return setCondition(told, { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable', message }, nowMs)
}

const notLongEnough = (count: number, seconds: number): string => (count > 0 ? ` ${count} more are ready for less than ${seconds} s.` : '')

/**
 * ReplicaFailure as long as creating or deleting fails. It keeps the words it came with: another message may name another pod, and every status
 * that is written has its owner looked at, and the same tried, again.
 */
function replicaFailure(told: readonly Condition[] | undefined, outcome: Outcome<Action>, nowMs: number): readonly Condition[] {
  const fault = podFaultOf(outcome)
  if (!fault) return removeCondition(told, 'ReplicaFailure')
  const { reason, error } = fault
  const current = findCondition(told, 'ReplicaFailure')
  if (current?.status === 'True' && current.reason === reason) return told!
  return setCondition(told, { type: 'ReplicaFailure', status: 'True', reason, message: error.message }, nowMs)
}
