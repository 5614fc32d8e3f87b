import { type Cause, firstOf, isWorthNaming } from '../../api/explain/index.ts'
import type { DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../api/generated/types.ts'
import { soonest } from '../../base/soonest.ts'
import type { Outcome } from '../kit/index.ts'
import {
  type Condition,
  type StoredCondition,
  type Why,
  deadlineInMs,
  findCondition,
  refusalOf,
  removeCondition,
  setTimedCondition,
  whyOf,
} from '../kit/workload/index.ts'
import { type Action, HashCollision } from './apply.ts'
import type { Derived } from './derive.ts'
import type { Observed } from './observe.ts'
import { progressOf } from './progress.ts'
import { type Annotations, revisionAnnotation } from './replica-sets.ts'
import { type Bounds, replicasOf } from './rolling.ts'

const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number =>
  sets.reduce((total, set) => total + (count(set) ?? 0), 0)

/** Computes the status from the status of the ReplicaSets and the sizes that they were given. */
export function status(seen: Derived, outcome: Outcome<Action>): DeploymentStatus {
  const { deployment, bounds, sets, newSet, oldSets, nowMs } = seen
  const { status: before = {} } = deployment
  const availableReplicas = sum(sets, (set) => set.status?.availableReplicas)
  const counts: DeploymentStatus = {
    ...(deployment.metadata.generation === undefined ? {} : { observedGeneration: deployment.metadata.generation }),
    replicas: sum(sets, (set) => set.status?.replicas),
    updatedReplicas: newSet?.status?.replicas ?? 0,
    readyReplicas: sum(sets, (set) => set.status?.readyReplicas),
    availableReplicas,
    unavailableReplicas: Math.max(0, wantedAfter(sets, outcome) - availableReplicas),
    ...terminating(sets),
    ...collisions(before, outcome),
  }
  const why = whyOf(causeOf(seen, outcome.wait))
  const said = setAvailable(before.conditions, bounds, availableReplicas, why, nowMs)
  const conditions = setReplicaFailure(
    progressOf(seen, { outcome, status: counts, conditions: said, why }),
    failuresOf(newSet, oldSets)[0],
  )
  return { ...counts, conditions: conditions as DeploymentCondition[] }
}

/** The revision annotation of a Deployment is that of its newest ReplicaSet. */
export function annotations({ newSet }: Observed, { done }: Outcome<Action>): Annotations {
  const revision =
    done.map((action) => writtenRevision(action, newSet)).find((r) => r !== undefined) ??
    newSet?.metadata.annotations?.[revisionAnnotation]
  return revision === undefined ? {} : { [revisionAnnotation]: revision }
}

function writtenRevision(action: Action, newSet: ReplicaSet | undefined): string | undefined {
  if (action.kind === 'Create') return action.set.metadata.annotations?.[revisionAnnotation]
  return action.kind === 'Change' && action.set.name === newSet?.metadata.name
    ? action.annotations[revisionAnnotation]
    : undefined
}

/** The desired pods of all ReplicaSets, including the sizes that were just written. */
function wantedAfter(sets: readonly ReplicaSet[], { done }: Outcome<Action>): number {
  const sizes = new Map(sets.map((set) => [set.metadata.name, replicasOf(set)]))
  for (const action of done) {
    if (action.kind === 'Create') sizes.set(action.set.metadata.name, replicasOf(action.set as ReplicaSet))
    else if (action.kind === 'Change') sizes.set(action.set.name, action.to)
  }
  return [...sizes.values()].reduce((a, b) => a + b, 0)
}

/** An unobserved ReplicaSet has none. If one does not report the number, the sum is unknown. */
function terminating(sets: readonly ReplicaSet[]): Pick<DeploymentStatus, 'terminatingReplicas'> {
  const isSilent = ({ status }: ReplicaSet) =>
    status?.terminatingReplicas === undefined && (status?.observedGeneration ?? 0) > 0
  return sets.some(isSilent) ? {} : { terminatingReplicas: sum(sets, (set) => set.status?.terminatingReplicas) }
}

/** Another count produces another hash, and another name for the next attempt. */
function collisions(before: DeploymentStatus, { failed }: Outcome<Action>): Pick<DeploymentStatus, 'collisionCount'> {
  const count = (before.collisionCount ?? 0) + (failed.some(({ error }) => error instanceof HashCollision) ? 1 : 0)
  return count === 0 && before.collisionCount === undefined ? {} : { collisionCount: count }
}

/** The first cause among pods of the new revision. If none is worth naming, the first among old ones. */
function causeOf(
  { deployment, newSet, oldSets, newCauses, oldCauses }: Observed,
  wait: string | undefined,
): Cause | undefined {
  const about = { kind: 'Deployment', object: deployment, wait }
  const first = firstOf(
    { ...about, refusal: refusalOf(failuresOf(newSet, oldSets)) },
    newCauses.staying,
    newCauses.going,
  )
  return isWorthNaming(first) ? first : (firstOf(about, oldCauses.staying, oldCauses.going) ?? first)
}

/** The time after which the status changes without an event: the deadline passes, or a terminating pod is late. */
export function changesInMs(
  { deployment: { spec }, newCauses, oldCauses, nowMs }: Observed,
  { conditions }: DeploymentStatus,
): number | undefined {
  const atMs = soonest(newCauses.changesAtMs, oldCauses.changesAtMs)
  return soonest(
    deadlineInMs(conditions, spec.progressDeadlineSeconds, nowMs),
    atMs === undefined ? undefined : atMs - nowMs,
  )
}

function setAvailable(
  conditions: readonly StoredCondition[] | undefined,
  bounds: Bounds,
  available: number,
  why: Why,
  nowMs: number,
): Condition[] {
  const [status, reason, message] =
    available >= bounds.replicas - bounds.maxUnavailable
      ? (['True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'] as const)
      : (['False', 'MinimumReplicasUnavailable', `Deployment does not have minimum availability.${why.named}`] as const)
  return setTimedCondition(conditions, { type: 'Available', status, reason, message }, nowMs)
}

/** The ReplicaFailure conditions of the ReplicaSets, the new one first. */
const failuresOf = (newSet: ReplicaSet | undefined, oldSets: readonly ReplicaSet[]): Condition[] =>
  [newSet, ...oldSets].flatMap((set) => findCondition(set?.status?.conditions, 'ReplicaFailure') ?? [])

function setReplicaFailure(conditions: readonly Condition[], failure: Condition | undefined): Condition[] {
  const others = removeCondition(conditions, 'ReplicaFailure')
  if (!failure) return others
  const { type, status, reason, message, lastTransitionTime } = failure
  return [
    ...others,
    {
      type,
      status,
      reason,
      message,
      lastTransitionTime,
      lastUpdateTime: lastTransitionTime,
    } as Condition,
  ]
}
