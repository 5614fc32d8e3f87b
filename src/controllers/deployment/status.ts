import { type Cause, firstOf, isWorthNaming } from '../../api/explain/index.ts'
import type { DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../api/generated/types.ts'
import { soonest } from '../../base/soonest.ts'
import type { Outcome } from '../kit/index.ts'
import {
  type Condition, type StoredCondition, type Why, deadlineInMs, findCondition, refusalOf, removeCondition, setTimedCondition,
  whyOf,
} from '../kit/workload/index.ts'
import { type Annotations, revisionAnnotation } from './annotations.ts'
import { type Bounds, boundsOf, replicasOf } from './bounds.ts'
import { HashCollision } from './hash-collision.ts'
import type { Observed } from './observe.ts'
import type { Action } from './plan.ts'
import { progressOf } from './progress.ts'

const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number =>
  sets.reduce((total, set) => total + (count(set) ?? 0), 0)

/** What is true now: numbers as the ReplicaSets tell them, of the sizes that they have been given. */
export function statusOf(seen: Observed, outcome: Outcome<Action>): DeploymentStatus {
  const { deployment, newSet, oldSets, nowMs } = seen
  const { status: before = {} } = deployment
  const bounds = boundsOf(deployment)
  const sets = [...oldSets, ...(newSet ? [newSet] : [])]
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
  const conditions = setReplicaFailure(progressOf(seen, outcome, counts, said, why), failuresOf(newSet, oldSets)[0])
  return { ...counts, conditions: conditions as DeploymentCondition[] }
}

/** The revision that a Deployment says it has is that of its newest ReplicaSet. */
export function annotationsOf({ newSet }: Observed, { done }: Outcome<Action>): Annotations {
  const revision = done.map((action) => writtenRevision(action, newSet)).find((r) => r !== undefined) ?? newSet?.metadata.annotations?.[revisionAnnotation]
  return revision === undefined ? {} : { [revisionAnnotation]: revision }
}

function writtenRevision(action: Action, newSet: ReplicaSet | undefined): string | undefined {
  if (action.kind === 'Create') return action.set.metadata.annotations?.[revisionAnnotation]
  return action.kind === 'Change' && action.set.name === newSet?.metadata.name ? action.annotations[revisionAnnotation] : undefined
}

/** Pods that all ReplicaSets are to have, with what has just been written. */
function wantedAfter(sets: readonly ReplicaSet[], { done }: Outcome<Action>): number {
  const sizes = new Map(sets.map((set) => [set.metadata.name, replicasOf(set)]))
  for (const action of done) {
    if (action.kind === 'Create') sizes.set(action.set.metadata.name, replicasOf(action.set as ReplicaSet))
    else if (action.kind === 'Change') sizes.set(action.set.name, action.to)
  }
  return [...sizes.values()].reduce((a, b) => a + b, 0)
}

/** A ReplicaSet that nobody has looked at yet has none; of one that does not tell, nobody knows, and so of the sum. */
function terminating(sets: readonly ReplicaSet[]): Pick<DeploymentStatus, 'terminatingReplicas'> {
  const isSilent = ({ status }: ReplicaSet) => status?.terminatingReplicas === undefined && (status?.observedGeneration ?? 0) > 0
  return sets.some(isSilent) ? {} : { terminatingReplicas: sum(sets, (set) => set.status?.terminatingReplicas) }
}

/** Another count makes another hash, and so another name for the next attempt. */
function collisions(before: DeploymentStatus, { failed }: Outcome<Action>): Pick<DeploymentStatus, 'collisionCount'> {
  const count = (before.collisionCount ?? 0) + (failed.some(({ error }) => error instanceof HashCollision) ? 1 : 0)
  return count === 0 && before.collisionCount === undefined ? {} : { collisionCount: count }
}

/** The first cause among pods of the new revision; where none is worth naming, among those of old ones. */
function causeOf({ deployment, newSet, oldSets, newCauses, oldCauses }: Observed, wait: string | undefined): Cause | undefined {
  const about = { kind: 'Deployment', object: deployment, wait }
  const first = firstOf({ ...about, refusal: refusalOf(failuresOf(newSet, oldSets)) }, newCauses.staying, newCauses.going)
  return isWorthNaming(first) ? first : (firstOf(about, oldCauses.staying, oldCauses.going) ?? first)
}

/**
 * The time after which a status says something else by itself: its deadline passes, or a pod that is being deleted is
 * late.
 */
export function changesInMs(
  { deployment: { spec }, newCauses, oldCauses, nowMs }: Observed, { conditions }: DeploymentStatus,
): number | undefined {
  const atMs = soonest(newCauses.changesAtMs, oldCauses.changesAtMs)
  return soonest(deadlineInMs(conditions, spec.progressDeadlineSeconds, nowMs), atMs === undefined ? undefined : atMs - nowMs)
}

function setAvailable(
  conditions: readonly StoredCondition[] | undefined, bounds: Bounds, available: number, why: Why, nowMs: number,
): Condition[] {
  const [status, reason, message] =
    available >= bounds.replicas - bounds.maxUnavailable
      ? (['True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'] as const)
      : (['False', 'MinimumReplicasUnavailable', `Deployment does not have minimum availability.${why.named}`] as const)
  return setTimedCondition(conditions, { type: 'Available', status, reason, message }, nowMs)
}

/**
 * The conditions that tell what keeps ReplicaSets, and so the Deployment, from their pods: the new one's before those
 * of the others.
 */
const failuresOf = (newSet: ReplicaSet | undefined, oldSets: readonly ReplicaSet[]): Condition[] =>
  [newSet, ...oldSets].flatMap((set) => findCondition(set?.status?.conditions, 'ReplicaFailure') ?? [])

function setReplicaFailure(conditions: readonly Condition[], failure: Condition | undefined): Condition[] {
  const others = removeCondition(conditions, 'ReplicaFailure')
  if (!failure) return others
  const { type, status, reason, message, lastTransitionTime } = failure
  return [...others, { type, status, reason, message, lastTransitionTime, lastUpdateTime: lastTransitionTime } as Condition]
}
