import type { DaemonSet, DaemonSetStatus } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { type Condition, RevisionTakenError, findCondition, podFaultOf, setTimedCondition, troubleText, withFault } from '../kit/workload/index.ts'
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
  return hasConditions ? { ...told, updateRevision: revision.name, conditions: conditionsOf(seen, places, counts, outcome) } : told
}

function collisions({ status: { collisionCount } }: DaemonSet, { failed }: Outcome<Action>): { collisionCount?: number } {
  return failed.some(({ error }) => error instanceof RevisionTakenError) ? { collisionCount: (collisionCount ?? 0) + 1 } : {}
}

function conditionsOf(seen: Observed, places: readonly Place[], counts: Counts, outcome: Outcome<Action>): Condition[] {
  const { nowMs } = seen
  const { desiredNumberScheduled: desired, numberAvailable, numberUnavailable } = counts
  const fault = podFaultOf(outcome)
  // In the words that it came with: those of every other attempt may name another pod.
  const failure = findCondition(withFault(seen.set.status.conditions, fault, nowMs), 'ReplicaFailure')?.message
  const isAvailable = numberUnavailable === 0
  const available = setTimedCondition(progressOf(seen, places, counts, failure).conditions, {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `${numberAvailable} of ${desired} nodes have an available pod.${isAvailable ? '' : troubleText(places.flatMap(({ pods }) => pods))}`,
  }, nowMs)
  return withFault(available, fault, nowMs)
}
