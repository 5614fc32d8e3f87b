import { firstCause } from '../../api/explain/index.ts'
import type { Pod, ReplicaSetStatus } from '../../api/generated/types.ts'
import { selectorFromMap } from '../../api/selectors/label-selector.ts'
import type { Outcome } from '../kit/index.ts'
import {
  type Condition, isPodAvailable, isPodReady, podFaultOf, refusalOf, sayAvailable, setCondition, staysWhenDeleted, untilLateMs, whyOf, withFault,
} from '../kit/workload/index.ts'
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
    conditions: conditions(seen, outcome, availableReplicas, pods),
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

function conditions({ owner, kind, wanted, minReadySeconds, nodeOf, terminating, nowMs }: Observed, outcome: Outcome<Action>, available: number, pods: readonly Pod[]): Condition[] {
  const told = withFault(owner.status?.conditions, podFaultOf(outcome), nowMs, false)
  if (available >= wanted) {
    const message = `${kind} has minimum availability.`
    return setCondition(told, { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message }, nowMs)
  }
  const around = { nowMs, minReadySeconds, ...(nodeOf ? { nodeOf } : {}) }
  const { cause } = firstCause({ kind, object: owner, pods: terminating ? [...pods, ...terminating] : pods, around, refusal: refusalOf(told), wait: outcome.wait })
  return setCondition(told, sayAvailable(available, wanted, wanted, whyOf(cause)), nowMs)
}

/** The time after which a status says something else by itself: a pod that is being deleted is late. */
export const changesInMs = ({ terminating, wanted, nowMs }: Observed, { availableReplicas = 0 }: ReplicaSetStatus): number | undefined =>
  availableReplicas < wanted ? untilLateMs(terminating ?? [], nowMs) : undefined
