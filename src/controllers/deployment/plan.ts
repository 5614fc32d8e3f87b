import type { ReplicaSet } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/int64.ts'
import type { New } from '../../client/index.ts'
import type { Step } from '../kit/index.ts'
import { type Annotations, missingAnnotations, revisionAnnotations, sizeAnnotations } from './annotations.ts'
import { type Bounds, boundsOf, isRollingUpdate, replicasOf } from './bounds.ts'
import { surplusSets } from './cleanup.ts'
import type { Observed } from './observe.ts'
import { draftOf } from './replica-sets.ts'
import { type Sized, type Target, grown, rollingTargets } from './rolling.ts'
import { isScaled, scaledTargets } from './scaling.ts'
import { isComplete } from './progress.ts'

/** The ReplicaSet that is changed, and the generation that the change was decided for. */
export interface Changed {
  name: string
  generation: Int64
  hasAnnotations: boolean
}

export type Action =
  | { kind: 'Adopt'; set: ReplicaSet }
  | { kind: 'Release'; set: ReplicaSet }
  | { kind: 'Create'; set: New<ReplicaSet> }
  | { kind: 'Change'; set: Changed; from: number; to: number; annotations: Annotations; minReadySeconds?: number }
  | { kind: 'Delete'; set: ReplicaSet }

const sized = (set: ReplicaSet): Sized => ({ name: set.metadata.name!, replicas: replicasOf(set), available: set.status?.availableReplicas ?? 0 })

const changed = ({ metadata }: ReplicaSet): Changed => ({ name: metadata.name!, generation: metadata.generation ?? 0, hasAnnotations: metadata.annotations !== undefined })

/** Decides the next step. What is being adopted has to be seen as its own first; then what a user asked for goes before the rollout. */
export function plan(seen: Observed): Step<Action> {
  const { deployment, adopt, release } = seen
  if (adopt.length + release.length > 0) {
    const actions = [...adopt.map((set) => ({ kind: 'Adopt' as const, set })), ...release.map((set) => ({ kind: 'Release' as const, set }))]
    return { actions, wait: `${actions.length} ReplicaSets change hands` }
  }
  return deployment.spec.paused ? keepPaused(seen) : (scale(seen) ?? rollOut(seen))
}

/** A paused Deployment scales and cleans up, and rolls nothing out. */
function keepPaused(seen: Observed): Step<Action> {
  const { deployment, newSet, oldSets } = seen
  const targets = scaledTargets(deployment, boundsOf(deployment), newSet, oldSets) ?? []
  return { actions: [...changes(seen, targets, targets), ...cleanUp(seen)], wait: 'it is paused' }
}

function scale(seen: Observed): Step<Action> | undefined {
  const { deployment, newSet, oldSets } = seen
  const isAsked = isScaled(deployment, [...oldSets, ...(newSet ? [newSet] : [])])
  const targets = isAsked ? scaledTargets(deployment, boundsOf(deployment), newSet, oldSets) : undefined
  return targets && { actions: changes(seen, targets, targets) }
}

function rollOut(seen: Observed): Step<Action> {
  const step = isRollingUpdate(seen.deployment) ? rollOver(seen) : recreate(seen)
  const isDone = step.actions.length === 0 && isComplete(seen.deployment, seen.deployment.status ?? {})
  return isDone ? { ...step, actions: cleanUp(seen) } : step
}

/** New pods come as old ones go. */
function rollOver(seen: Observed): Step<Action> {
  const { deployment, newSet, oldSets } = seen
  const bounds = boundsOf(deployment)
  if (newSet) return { actions: changes(seen, rollingTargets(bounds, sized(newSet), oldSets.map(sized))) }
  // Nothing old goes before the new ReplicaSet has been accepted, so it begins with the surge alone.
  const draft = draftFor(seen, grown(bounds, 0, oldSets.reduce((sum, set) => sum + replicasOf(set), 0)))
  const made: Sized = { name: draft.metadata.name!, replicas: draft.spec!.replicas!, available: 0 }
  return { actions: [{ kind: 'Create', set: draft }, ...changes(seen, rollingTargets(bounds, made, oldSets.map(sized)), [], made)] }
}

/** All old pods go, and only then new ones come. */
function recreate(seen: Observed): Step<Action> {
  const { deployment, newSet, oldSets, oldPod } = seen
  const emptied = changes(seen, oldSets.map((set) => ({ name: set.metadata.name!, replicas: 0 })))
  if (oldSets.some((set) => replicasOf(set) > 0)) return { actions: emptied, wait: 'old pods have to go first' }
  const busy = oldSets.find((set) => (set.status?.replicas ?? 0) > 0)
  if (busy || oldPod) return { actions: emptied, wait: `old pods have to go first: ${oldPod ? `pod ${oldPod}` : `those of ReplicaSet ${busy!.metadata.name}`}` }
  const { replicas } = boundsOf(deployment)
  return { actions: newSet ? changes(seen, [{ name: newSet.metadata.name!, replicas }]) : [{ kind: 'Create', set: draftFor(seen, replicas) }] }
}

function draftFor({ deployment, oldSets }: Observed, replicas: number): New<ReplicaSet> {
  return draftOf(deployment, replicas, { ...revisionAnnotations(deployment, undefined, oldSets), ...sizeAnnotations(boundsOf(deployment)) })
}

const cleanUp = ({ deployment, oldSets }: Observed): Action[] => surplusSets(deployment, oldSets).map((set) => ({ kind: 'Delete', set }))

/**
 * One write for each ReplicaSet that is not as it should be, those that shrink first. Who gets another size remembers what it was for; `marked` do
 * even if they stay as they are. The new one also follows the Deployment in all else.
 */
function changes(seen: Observed, targets: readonly Target[], marked: readonly Target[] = [], made?: Sized): Action[] {
  const { deployment, newSet, oldSets } = seen
  const bounds = boundsOf(deployment)
  const actions: (Action & { kind: 'Change' })[] = []
  for (const set of [...oldSets, ...(newSet ? [newSet] : [])]) {
    const from = replicasOf(set)
    const to = targetOf(targets, set.metadata.name!, from)
    const isMarked = to !== from || targetOf(marked, set.metadata.name!, -1) === to
    const wanted = { ...(isMarked ? sizeAnnotations(bounds) : {}), ...(set === newSet ? revisionAnnotations(deployment, set, oldSets) : {}) }
    const annotations = missingAnnotations(set, wanted)
    const minReadySeconds = set === newSet ? otherMinReady(seen, set) : undefined
    if (to === from && Object.keys(annotations).length === 0 && minReadySeconds === undefined) continue
    actions.push({ kind: 'Change', set: changed(set), from, to, annotations, ...(minReadySeconds === undefined ? {} : { minReadySeconds }) })
  }
  if (made) actions.push(...changesOfMade(targets, made, bounds))
  return actions.sort((a, b) => growth(a) - growth(b))
}

/** What has just been made is of its first generation, and was sized for these bounds. */
function changesOfMade(targets: readonly Target[], made: Sized, bounds: Bounds): (Action & { kind: 'Change' })[] {
  const to = targetOf(targets, made.name, made.replicas)
  if (to === made.replicas) return []
  return [{ kind: 'Change', set: { name: made.name, generation: 1, hasAnnotations: true }, from: made.replicas, to, annotations: sizeAnnotations(bounds) }]
}

const growth = ({ from, to }: { from: number; to: number }): number => Math.sign(to - from)

const targetOf = (targets: readonly Target[], name: string, otherwise: number): number => targets.find((t) => t.name === name)?.replicas ?? otherwise

function otherMinReady({ deployment }: Observed, set: ReplicaSet): number | undefined {
  const wanted = deployment.spec.minReadySeconds ?? 0
  return wanted === (set.spec.minReadySeconds ?? 0) ? undefined : wanted
}
