import { type Cause, firstOf, isWorthNaming } from '../../api/explain/index.ts'
import type { DaemonSet, DaemonSetStatus, Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import {
  type Condition,
  RevisionTakenError,
  deadlineInMs,
  endsProgress,
  isPodTerminating,
  nodesWithPod,
  podFaultOf,
  refusalOf,
  sayAvailable,
  setTimedCondition,
  staysWhenDeleted,
  whyOf,
  withFault,
  withoutConditions,
} from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { type NodeState, withPods } from './node-state.ts'
import type { NodeTable } from './node-table.ts'
import type { Observed } from './observe.ts'
import { progressOf } from './progress.ts'

/** Computes the status after a step. */
export function status(seen: Observed, outcome: Outcome<Action>): DaemonSetStatus {
  const { set, revision, hasConditions } = seen
  // The revisions may be deleted already, so that it is unknown which pods are up to date.
  if (set.metadata.deletionTimestamp) return set.status
  return seen.table.instead(statesAfter(seen, outcome), () => {
    const told = {
      ...set.status,
      ...seen.table.counts,
      ...collisions(set, outcome),
      observedGeneration: set.metadata.generation!,
    }
    if (hasConditions) return { ...told, updateRevision: revision.name, conditions: conditionsOf(seen, outcome) }
    const { conditions, updateRevision: _, ...rest } = told
    const others = withoutConditions(conditions, ownConditions)
    return others.length > 0 ? { ...rest, conditions: others } : rest
  })
}

/**
 * The nodes that a step has changed. Created pods count immediately. A deleted pod is gone unless its node has to end
 * it first.
 */
function statesAfter({ table, basis, nowMs }: Observed, { done, answers }: Outcome<Action>): NodeState[] {
  const pods = new Map<string, readonly Pod[]>()
  const podsAt = (node: string) => pods.get(node) ?? table.get(node)?.pods ?? []
  for (const action of done) {
    const answer = answers?.get(action) as Pod | undefined
    if (action.kind === 'CreatePod' && answer) pods.set(action.node, [...podsAt(action.node), answer])
    else if (action.kind === 'DeletePod' && !staysWhenDeleted(action.pod)) {
      pods.set(
        action.node,
        podsAt(action.node).filter((pod) => pod !== action.pod),
      )
    }
  }
  return [...pods].flatMap(([node, there]) =>
    table.get(node) ? [withPods(basis, table.get(node)!, there, nowMs)] : [],
  )
}

/**
 * The conditions that only this controller writes. They are removed with the feature gate, because they would become
 * false.
 */
const ownConditions = ['Progressing', 'Available', 'ReplicaFailure']

function collisions(
  { status: { collisionCount } }: DaemonSet,
  { failed }: Outcome<Action>,
): { collisionCount?: number } {
  return failed.some(({ error }) => error instanceof RevisionTakenError)
    ? { collisionCount: (collisionCount ?? 0) + 1 }
    : {}
}

function conditionsOf(seen: Observed, outcome: Outcome<Action>): Condition[] {
  const { nowMs, set, table } = seen
  const { desiredNumberScheduled: desired, numberAvailable } = table.counts
  const fault = podFaultOf(outcome)
  const refusal = refusalOf(withFault(set.status.conditions, fault, nowMs))
  const cause = firstOf({ kind: 'DaemonSet', object: set, refusal, wait: outcome.wait }, table.causes.peek(), undefined)
  const why = whyOf(isWorthNaming(cause) ? cause : (misplaced(table) ?? cause))
  const failed = endsProgress(fault) ? { reason: fault.reason, message: fault.error.message } : undefined
  const available = sayAvailable(numberAvailable, desired, why, nodesWithPod)
  return withFault(setTimedCondition(progressOf(seen, outcome.done, why, failed), available, nowMs), fault, nowMs)
}

/** The first misplaced pod. */
function misplaced(table: NodeTable): Cause | undefined {
  for (const { node, pods } of table.misplaced.values()) {
    const pod = pods.find((p) => !isPodTerminating(p))
    if (!pod) continue
    const { namespace, name = '' } = pod.metadata
    const object = { kind: 'Pod', ...(namespace ? { namespace } : {}), name }
    const help = `kubectl delete pod ${name}, or remove the taint of node ${node}.`
    return { what: 'Misplaced', weight: 'held', object, text: `is on node ${node}, which is not to run one`, help }
  }
  return undefined
}

/** The time until the deadline passes, which changes the status without an event. */
export const changesInMs = (
  { set: { spec }, nowMs, hasConditions }: Observed,
  { conditions }: DaemonSetStatus,
): number | undefined => (hasConditions ? deadlineInMs(conditions, spec.progressDeadlineSeconds, nowMs) : undefined)
