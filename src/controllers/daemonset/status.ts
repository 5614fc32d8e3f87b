import { type Cause, firstCause, isWorthNaming } from '../../api/explain/index.ts'
import type { DaemonSet, DaemonSetStatus } from '../../api/generated/types.ts'
import { soonest } from '../../base/soonest.ts'
import type { Outcome } from '../kit/index.ts'
import {
  type Condition, RevisionTakenError, deadlineInMs, endsProgress, isPodTerminating, podFaultOf, refusalOf, sayAvailable,
  setTimedCondition, untilLateMs, whyOf, withFault, withoutConditions,
} from '../kit/workload/index.ts'
import { type Counts, countNodes, placesAfter } from './counts.ts'
import type { Observed } from './observe.ts'
import type { Place } from './places.ts'
import type { Action } from './plan.ts'
import { progressOf } from './progress.ts'

/** The status that is true after a step. */
export function status(seen: Observed, outcome: Outcome<Action>): DaemonSetStatus {
  const { set, revision, hasConditions } = seen
  // Its revisions may be gone already: nobody can tell any more which pods are up to date.
  if (set.metadata.deletionTimestamp) return set.status
  const places = placesAfter(seen.places, outcome)
  const counts = countNodes(seen, places)
  const told = { ...set.status, ...counts, ...collisions(set, outcome), observedGeneration: set.metadata.generation! }
  if (hasConditions) return { ...told, updateRevision: revision.name, conditions: conditionsOf(seen, places, counts, outcome) }
  const { conditions, updateRevision: _, ...rest } = told
  const others = withoutConditions(conditions, ownConditions)
  return others.length > 0 ? { ...rest, conditions: others } : rest
}

/**
 * The conditions that this controller writes, and nobody else. They go with the gate: one that nobody keeps up would
 * lie.
 */
const ownConditions = ['Progressing', 'Available', 'ReplicaFailure']

function collisions({ status: { collisionCount } }: DaemonSet, { failed }: Outcome<Action>): { collisionCount?: number } {
  return failed.some(({ error }) => error instanceof RevisionTakenError) ? { collisionCount: (collisionCount ?? 0) + 1 } : {}
}

function conditionsOf(seen: Observed, places: readonly Place[], counts: Counts, outcome: Outcome<Action>): Condition[] {
  const { nowMs, set, revision, finders } = seen
  const { desiredNumberScheduled: desired, numberAvailable } = counts
  const { minReadySeconds = 0 } = set.spec
  const fault = podFaultOf(outcome)
  const { cause } = firstCause({
    kind: 'DaemonSet',
    object: set,
    pods: places.flatMap(({ pods }) => pods),
    around: { nowMs, minReadySeconds, ...finders },
    refusal: refusalOf(withFault(set.status.conditions, fault, nowMs)),
    isUpdated: (pod) => revision.has(pod),
    wait: outcome.wait,
  })
  const why = whyOf(isWorthNaming(cause) ? cause : (misplaced(places) ?? cause))
  const failed = endsProgress(fault) ? { reason: fault.reason, message: fault.error.message } : undefined
  const available = sayAvailable(numberAvailable, desired, desired, why, 'nodes have an available pod')
  return withFault(setTimedCondition(progressOf(seen, places, counts, outcome.done, why, failed), available, nowMs), fault, nowMs)
}

/** The first pod that is not to be where it is. */
function misplaced(places: readonly Place[]): Cause | undefined {
  for (const { fit, node, pods } of places) {
    const pod = fit === 'stay' || fit === 'leave' ? pods.find((p) => !isPodTerminating(p)) : undefined
    if (!pod) continue
    const { namespace, name = '' } = pod.metadata
    const object = { kind: 'Pod', ...(namespace ? { namespace } : {}), name }
    const help = `kubectl delete pod ${name}, or remove the taint of node ${node}.`
    return { what: 'Misplaced', weight: 'held', object, text: `is on node ${node}, which is not to run one`, help }
  }
  return undefined
}

/**
 * The time after which a status says something else by itself: its deadline passes, or a pod that is being deleted is
 * late.
 */
export function changesInMs({ set: { spec }, pods, nowMs, hasConditions }: Observed, { conditions }: DaemonSetStatus): number | undefined {
  if (!hasConditions) return undefined
  return soonest(deadlineInMs(conditions, spec.progressDeadlineSeconds, nowMs), untilLateMs(pods.kept.filter(isPodTerminating), nowMs))
}
