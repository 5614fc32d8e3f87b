import { type Cause, firstOf, worstOf } from '../../api/explain/index.ts'
import type { ReplicaSetStatus } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import {
  type Condition,
  podFaultOf,
  refusalOf,
  sayAvailable,
  setCondition,
  staysWhenDeleted,
  whyOf,
  withFault,
} from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { type Counts, count } from './member.ts'
import type { Observed } from './observe.ts'

/**
 * Computes the status after a step. Pods that were just created or deleted count, so that the status stays the same
 * when the caches contain them.
 */
export function status(seen: Observed, outcome: Outcome<Action>): ReplicaSetStatus {
  const counts = countsAfter(seen, outcome)
  return {
    ...seen.owner.status,
    replicas: counts.kept,
    fullyLabeledReplicas: counts.labeled,
    readyReplicas: counts.ready,
    availableReplicas: counts.available,
    ...(seen.countsTerminating ? { terminatingReplicas: counts.going } : {}),
    conditions: conditions(seen, outcome, counts.available),
  }
}

function countsAfter({ tally, read }: Observed, { done }: Outcome<Action>): Counts {
  const { kept, ready, available, labeled, going } = tally
  const counts: Counts = { kept, ready, available, labeled, going }
  for (const action of done) {
    if (action.kind === 'CreatePod') {
      counts.kept++
      counts.labeled++
    } else if (action.kind === 'AdoptPod' || action.kind === 'DeletePod') {
      const member = read(action.pod)
      if (member) count(counts, member, action.kind === 'AdoptPod' ? 1 : -1)
      if (action.kind === 'DeletePod' && staysWhenDeleted(action.pod)) counts.going++
    }
  }
  return counts
}

function conditions(seen: Observed, outcome: Outcome<Action>, available: number): Condition[] {
  const { owner, kind, wanted, nowMs } = seen
  const told = withFault(owner.status?.conditions, podFaultOf(outcome), nowMs, false)
  if (available >= wanted) {
    const message = `${kind} has minimum availability.`
    return setCondition(told, { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message }, nowMs)
  }
  const about = { kind, object: owner, refusal: refusalOf(told), wait: outcome.wait }
  const cause = firstOf(about, worstAfter(seen, outcome), seen.tally.causes.going.peek())
  return setCondition(told, sayAvailable(available, wanted, whyOf(cause)), nowMs)
}

/** The most severe cause among the remaining pods after a step. */
function worstAfter({ tally: { causes }, adopt, kept, read }: Observed, { done }: Outcome<Action>): Cause | undefined {
  const touched = new Set(
    done.flatMap((action) => (action.kind === 'DeletePod' || action.kind === 'AdoptPod' ? [action.pod] : [])),
  )
  if (touched.size === 0) return causes.staying.peek()
  const deleted = new Set(done.flatMap((action) => (action.kind === 'DeletePod' ? [action.pod] : [])))
  return worstOf(
    [...kept(), ...adopt.filter((pod) => touched.has(pod))].map((pod) =>
      deleted.has(pod) ? undefined : read(pod)?.cause,
    ),
  )
}
