import { type Step, revise } from '../kit/index.ts'
import { burst, surplusRevisions } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { instancesOf } from './instances.ts'
import { refreshPod } from './in-place.ts'
import type { PatchLifecycle } from './lifecycle.ts'
import { type Derived, goalAfter, wakesInMs } from './derive.ts'
import type { Observed } from './observe.ts'
import { hashOfName } from './revisions.ts'
import { createPods, keepWanted, removePods } from './scale.ts'
import { type Update, updatePods } from './update.ts'

/** Decides the next step of a set: the pods to delete, to update, and to create. */
export function plan(seen: Derived): Step<Action> {
  const { actions, wait } = pods(seen, refresh(seen))
  // Pods name their revision, so it must exist before them.
  const all: Action[] = [...ownership(seen), ...revise(seen.revisions.step), ...actions, ...forget(seen)]
  if (all.length === 0) all.push(...trim(seen))
  const requeueAfterMs = wakesInMs(seen)
  return {
    actions: all,
    ...(wait === undefined ? {} : { wait }),
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  }
}

function ownership({ adopt, release, orphanRevisions }: Observed): Action[] {
  return [
    ...adopt.map((pod): Action => ({ kind: 'AdoptPod', pod })),
    ...release.map((pod): Action => ({ kind: 'ReleasePod', pod })),
    ...orphanRevisions.map((revision): Action => ({ kind: 'AdoptRevision', revision })),
  ]
}

/** The due actions of pods: gates and lifecycle states. */
const refresh = ({ set, members, nowMs, revisions }: Derived): PatchLifecycle[] =>
  [...members.due.values()].flatMap((member) => refreshPod(set, member, revisions.update.hash, nowMs).action ?? [])

/**
 * Deletes come before creates, so that there are never too many pods, and both are in one step. A step that scales down
 * updates nothing, because the redundant pods may be the outdated ones.
 */
function pods(seen: Derived, refreshed: readonly PatchLifecycle[]): Pick<Update, 'actions' | 'wait'> {
  const kept = keepWanted(seen)
  if (kept.length > 0) return { actions: distinct([...refreshed, ...kept]) }
  const instances = instancesOf(seen)
  const parting = removePods(seen, instances)
  const update = parting.actions.length > 0 ? undefined : updatePods(seen, instances)
  const creates = createPods(
    seen,
    goalAfter(seen, [...parting.gone, ...(update?.gone ?? [])], update?.changed ?? []),
    instances,
  )
  const actions = distinct([...refreshed, ...parting.actions, ...(update?.actions ?? [])])
  const wait = update?.wait ?? limitText(seen, creates.length)
  return {
    actions: [...instances.actions, ...inOrder(actions), ...creates, ...actions.filter(isRefusal)],
    ...(wait === undefined ? {} : { wait }),
  }
}

const isRefusal = ({ kind }: Action): boolean => kind === 'RefuseUpdate'

/** Actions of one kind are adjacent. Refusals come last, so that they do not prevent other updates. */
function inOrder(actions: readonly Action[]): Action[] {
  const kinds: Action['kind'][] = ['PatchLifecycle', 'UpdateInPlace', 'DeletePod']
  return kinds.flatMap((kind) => actions.filter((action) => action.kind === kind))
}

/** At most one lifecycle change per pod: one that another action needs takes precedence over a due one. */
function distinct(actions: readonly Action[]): Action[] {
  const touched = new Set(actions.flatMap((action) => (action.kind === 'DeletePod' ? [action.pod] : [])))
  const last = new Map(actions.flatMap((action) => (action.kind === 'PatchLifecycle' ? [[action.pod, action]] : [])))
  return actions.filter(
    (action) => action.kind !== 'PatchLifecycle' || (last.get(action.pod) === action && !touched.has(action.pod)),
  )
}

function limitText({ goal, bounds }: Derived, creates: number): string | undefined {
  // After a burst the next step creates more: nothing is waited for.
  if (creates >= Math.min(goal.missing, burst) || goal.mayCreate >= goal.missing) return undefined
  return `more pods are made when fewer than ${bounds.maxUnavailableOfScale} are unavailable`
}

/**
 * Removes the names of deleted pods from `podsToDelete`. It is a step of its own, so that it is not based on an older
 * version of the set.
 */
function trim({ set, members }: Observed): Action[] {
  const named = set.spec.scaleStrategy?.podsToDelete ?? []
  if (named.length === 0) return []
  const left = named.filter((name) => members.get(name))
  return left.length < named.length ? [{ kind: 'TrimPodsToDelete', left }] : []
}

function forget({ set, history, members, revisions }: Derived): Action[] {
  const { revisionHistoryLimit = 10 } = set.spec
  if (history.length <= revisionHistoryLimit) return []
  const isOfPods = (name: string): boolean => members.ofHash.has(hashOfName(name))
  const ofPods = history.map(({ metadata }) => metadata.name!).filter(isOfPods)
  const inUse = new Set([revisions.current.name, revisions.update.name, ...ofPods])
  return surplusRevisions(history, inUse, revisionHistoryLimit).map((revision) => ({
    kind: 'DeleteRevision',
    revision,
  }))
}
