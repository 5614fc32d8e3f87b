import { type Cause, firstOf, isWorthNaming } from '../../api/explain/index.ts'
import type { DaemonSet, DaemonSetStatus, Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import {
  type Condition, RevisionTakenError, deadlineInMs, endsProgress, isPodTerminating, nodesWithPod, podFaultOf, refusalOf,
  sayAvailable, setTimedCondition, staysWhenDeleted, whyOf, withFault, withoutConditions,
} from '../kit/workload/index.ts'
import type { Observed } from './observe.ts'
import { type Place, withPods } from './place.ts'
import type { Places } from './places.ts'
import type { Action } from './plan.ts'
import { progressOf } from './progress.ts'

/** The status that is true after a step. */
export function status(seen: Observed, outcome: Outcome<Action>): DaemonSetStatus {
  const { set, revision, hasConditions } = seen
  // Its revisions may be gone already: nobody can tell any more which pods are up to date.
  if (set.metadata.deletionTimestamp) return set.status
  return seen.places.instead(placesAfter(seen, outcome), () => {
    const told = { ...set.status, ...seen.places.counts, ...collisions(set, outcome), observedGeneration: set.metadata.generation! }
    if (hasConditions) return { ...told, updateRevision: revision.name, conditions: conditionsOf(seen, outcome) }
    const { conditions, updateRevision: _, ...rest } = told
    const others = withoutConditions(conditions, ownConditions)
    return others.length > 0 ? { ...rest, conditions: others } : rest
  })
}

/**
 * The places that are others after a step: what was made counts at once, and what was deleted is gone unless its node
 * has to end it first.
 */
function placesAfter({ places, basis, nowMs }: Observed, { done, answers }: Outcome<Action>): Place[] {
  const pods = new Map<string, readonly Pod[]>()
  const podsAt = (node: string) => pods.get(node) ?? places.get(node)?.pods ?? []
  for (const action of done) {
    const answer = answers?.get(action) as Pod | undefined
    if (action.kind === 'CreatePod' && answer) pods.set(action.node, [...podsAt(action.node), answer])
    else if (action.kind === 'DeletePod' && !staysWhenDeleted(action.pod)) {
      pods.set(action.node, podsAt(action.node).filter((pod) => pod !== action.pod))
    }
  }
  return [...pods].flatMap(([node, there]) => (places.get(node) ? [withPods(basis, places.get(node)!, there, nowMs)] : []))
}

/**
 * The conditions that this controller writes, and nobody else. They go with the gate: one that nobody keeps up would
 * lie.
 */
const ownConditions = ['Progressing', 'Available', 'ReplicaFailure']

function collisions({ status: { collisionCount } }: DaemonSet, { failed }: Outcome<Action>): { collisionCount?: number } {
  return failed.some(({ error }) => error instanceof RevisionTakenError) ? { collisionCount: (collisionCount ?? 0) + 1 } : {}
}

function conditionsOf(seen: Observed, outcome: Outcome<Action>): Condition[] {
  const { nowMs, set, places } = seen
  const { desiredNumberScheduled: desired, numberAvailable } = places.counts
  const fault = podFaultOf(outcome)
  const refusal = refusalOf(withFault(set.status.conditions, fault, nowMs))
  const cause = firstOf({ kind: 'DaemonSet', object: set, refusal, wait: outcome.wait }, places.causes.peek(), undefined)
  const why = whyOf(isWorthNaming(cause) ? cause : (misplaced(places) ?? cause))
  const failed = endsProgress(fault) ? { reason: fault.reason, message: fault.error.message } : undefined
  const available = sayAvailable(numberAvailable, desired, desired, why, nodesWithPod)
  return withFault(setTimedCondition(progressOf(seen, outcome.done, why, failed), available, nowMs), fault, nowMs)
}

/** The first pod that is not to be where it is. */
function misplaced(places: Places): Cause | undefined {
  for (const { node, pods } of places.misplaced.values()) {
    const pod = pods.find((p) => !isPodTerminating(p))
    if (!pod) continue
    const { namespace, name = '' } = pod.metadata
    const object = { kind: 'Pod', ...(namespace ? { namespace } : {}), name }
    const help = `kubectl delete pod ${name}, or remove the taint of node ${node}.`
    return { what: 'Misplaced', weight: 'held', object, text: `is on node ${node}, which is not to run one`, help }
  }
  return undefined
}

/** The time after which a status says something else by itself: its deadline passes. */
export const changesInMs = ({ set: { spec }, nowMs, hasConditions }: Observed, { conditions }: DaemonSetStatus): number | undefined =>
  hasConditions ? deadlineInMs(conditions, spec.progressDeadlineSeconds, nowMs) : undefined
