import type { ReplicaSet } from '../../api/generated/types.ts'
import type { New } from '../../client/index.ts'
import type { Step } from '../kit/index.ts'
import type { Action, Changed } from './apply.ts'
import type { Derived } from './derive.ts'
import { isComplete } from './progress.ts'
import { draftOf, missingAnnotations, revisionAnnotations, sizeAnnotations, surplusSets } from './replica-sets.ts'
import { type Bounds, type Sized, type Target, grown, isRollingUpdate, replicasOf, rollingTargets } from './rolling.ts'
import { isScaled, scaledTargets } from './scaling.ts'

const sized = (set: ReplicaSet): Sized => ({
  name: set.metadata.name!,
  replicas: replicasOf(set),
  available: set.status?.availableReplicas ?? 0,
})

const changed = ({ metadata }: ReplicaSet): Changed => ({
  name: metadata.name!,
  generation: metadata.generation ?? 0,
  hasAnnotations: metadata.annotations !== undefined,
})

/**
 * Decides the next step. An adoption must be observed before anything else happens. Scaling by a user comes before the
 * rollout.
 */
export function plan(seen: Derived): Step<Action> {
  const { deployment, adopt, release } = seen
  if (adopt.length + release.length > 0) {
    const actions = [
      ...adopt.map((set) => ({ kind: 'Adopt' as const, set })),
      ...release.map((set) => ({ kind: 'Release' as const, set })),
    ]
    return { actions, wait: `${actions.length} ReplicaSets change hands` }
  }
  return deployment.spec.paused ? keepPaused(seen) : (scale(seen) ?? rollOut(seen))
}

/** A paused Deployment scales and cleans up, but does not roll out. */
function keepPaused(seen: Derived): Step<Action> {
  const targets = scaledTargets(seen) ?? []
  return { actions: [...changes(seen, targets, targets), ...cleanUp(seen)], wait: 'it is paused' }
}

function scale(seen: Derived): Step<Action> | undefined {
  const targets = isScaled(seen.deployment, seen.sets) ? scaledTargets(seen) : undefined
  return targets && { actions: changes(seen, targets, targets) }
}

function rollOut(seen: Derived): Step<Action> {
  const step = isRollingUpdate(seen.deployment) ? rollOver(seen) : recreate(seen)
  const isDone = step.actions.length === 0 && isComplete(seen.deployment, seen.deployment.status ?? {})
  return isDone ? { ...step, actions: cleanUp(seen) } : step
}

/** Creates new pods while old ones are deleted. */
function rollOver(seen: Derived): Step<Action> {
  const { bounds, newSet, oldSets } = seen
  if (newSet) return { actions: changes(seen, rollingTargets(bounds, sized(newSet), oldSets.map(sized))) }
  // No old pod is deleted before the new ReplicaSet has been accepted. It therefore starts with the surge alone.
  const draft = draftFor(
    seen,
    grown(
      bounds,
      0,
      oldSets.reduce((sum, set) => sum + replicasOf(set), 0),
    ),
  )
  const made: Sized = { name: draft.metadata.name!, replicas: draft.spec!.replicas!, available: 0 }
  return {
    actions: [
      { kind: 'Create', set: draft },
      ...changes(seen, rollingTargets(bounds, made, oldSets.map(sized)), [], made),
    ],
  }
}

/** Deletes all old pods before new ones are created. */
function recreate(seen: Derived): Step<Action> {
  const {
    bounds: { replicas },
    newSet,
    oldSets,
    oldPod,
  } = seen
  const emptied = changes(
    seen,
    oldSets.map((set) => ({ name: set.metadata.name!, replicas: 0 })),
  )
  if (oldSets.some((set) => replicasOf(set) > 0)) return { actions: emptied, wait: 'old pods have to go first' }
  const busy = oldSets.find((set) => (set.status?.replicas ?? 0) > 0)
  if (busy || oldPod) {
    return {
      actions: emptied,
      wait: `old pods have to go first: ${oldPod ? `pod ${oldPod}` : `those of ReplicaSet ${busy!.metadata.name}`}`,
    }
  }
  return {
    actions: newSet
      ? changes(seen, [{ name: newSet.metadata.name!, replicas }])
      : [{ kind: 'Create', set: draftFor(seen, replicas) }],
  }
}

function draftFor({ deployment, oldSets, bounds }: Derived, replicas: number): New<ReplicaSet> {
  return draftOf(deployment, replicas, {
    ...revisionAnnotations(deployment, undefined, oldSets),
    ...sizeAnnotations(bounds),
  })
}

const cleanUp = ({ deployment, oldSets }: Derived): Action[] =>
  surplusSets(deployment, oldSets).map((set) => ({ kind: 'Delete', set }))

/**
 * One write per ReplicaSet that needs a change, those that shrink first. A resized ReplicaSet records the size that it
 * was scaled for. `marked` ones record it without a resize. The new ReplicaSet also follows the other fields of the
 * Deployment.
 */
function changes(seen: Derived, targets: readonly Target[], marked: readonly Target[] = [], made?: Sized): Action[] {
  const { deployment, bounds, newSet, oldSets } = seen
  const actions: (Action & { kind: 'Change' })[] = []
  for (const set of seen.sets) {
    const from = replicasOf(set)
    const to = targetOf(targets, set.metadata.name!, from)
    const isMarked = to !== from || targetOf(marked, set.metadata.name!, -1) === to
    const wanted = {
      ...(isMarked ? sizeAnnotations(bounds) : {}),
      ...(set === newSet ? revisionAnnotations(deployment, set, oldSets) : {}),
    }
    const annotations = missingAnnotations(set, wanted)
    const minReadySeconds = set === newSet ? otherMinReady(seen, set) : undefined
    if (to === from && Object.keys(annotations).length === 0 && minReadySeconds === undefined) continue
    actions.push({
      kind: 'Change',
      set: changed(set),
      from,
      to,
      annotations,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
    })
  }
  if (made) actions.push(...changesOfMade(targets, made, bounds))
  return actions.sort((a, b) => growth(a) - growth(b))
}

/** A ReplicaSet that was just created has its first generation and was sized for these bounds. */
function changesOfMade(targets: readonly Target[], made: Sized, bounds: Bounds): (Action & { kind: 'Change' })[] {
  const to = targetOf(targets, made.name, made.replicas)
  if (to === made.replicas) return []
  return [
    {
      kind: 'Change',
      set: { name: made.name, generation: 1, hasAnnotations: true },
      from: made.replicas,
      to,
      annotations: sizeAnnotations(bounds),
    },
  ]
}

const growth = ({ from, to }: { from: number; to: number }): number => Math.sign(to - from)

const targetOf = (targets: readonly Target[], name: string, otherwise: number): number =>
  targets.find((t) => t.name === name)?.replicas ?? otherwise

function otherMinReady({ deployment }: Derived, set: ReplicaSet): number | undefined {
  const wanted = deployment.spec.minReadySeconds ?? 0
  return wanted === (set.spec.minReadySeconds ?? 0) ? undefined : wanted
}
