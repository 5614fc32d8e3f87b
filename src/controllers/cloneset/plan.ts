import { type Step, revise } from '../kit/index.ts'
import { surplusRevisions } from '../kit/workload/index.ts'
import type { Action, PatchLifecycle } from './actions.ts'
import { instancesOf } from './claims.ts'
import { refreshPod } from './in-place.ts'
import { type Look, goalAfter, lookAt, wakesInMs } from './look.ts'
import type { Observed } from './observe.ts'
import { hashOfName } from './revision.ts'
import { createPods, keepWanted, removePods } from './scale.ts'
import { type Update, updatePods } from './update.ts'

/** Decides the next step of a set: which pods go, which are changed, and what is made in the place of those that go. */
export function plan(seen: Observed): Step<Action> {
  const look = lookAt(seen)
  const { actions, wait } = pods(look, refresh(look))
  // Pods name their revision: it has to be there before them.
  const all: Action[] = [...belongings(seen), ...revise(look.revisions.step), ...actions, ...forget(look)]
  if (all.length === 0) all.push(...trim(seen))
  const requeueAfterMs = wakesInMs(seen)
  return { actions: all, ...(wait === undefined ? {} : { wait }), ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) }
}

function belongings({ adopt, release, orphanRevisions }: Observed): Action[] {
  return [
    ...adopt.map((pod): Action => ({ kind: 'AdoptPod', pod })),
    ...release.map((pod): Action => ({ kind: 'ReleasePod', pod })),
    ...orphanRevisions.map((revision): Action => ({ kind: 'AdoptRevision', revision })),
  ]
}

/** What is due for pods by themselves: gates and states. */
const refresh = ({ seen: { set, members, nowMs }, revisions }: Look): PatchLifecycle[] =>
  [...members.due.values()].flatMap((member) => refreshPod(set, member, revisions.update.hash, nowMs).action ?? [])

/**
 * Pods go before others come, so that there are never too many; and what comes does not wait for another look. Nothing is updated in a step that scales down: what
 * is too many may be what is outdated.
 */
function pods(look: Look, refreshed: readonly PatchLifecycle[]): Pick<Update, 'actions' | 'wait'> {
  const kept = keepWanted(look)
  if (kept.length > 0) return { actions: distinct([...refreshed, ...kept]) }
  const instances = instancesOf(look.seen)
  const parting = removePods(look, instances)
  const update = parting.actions.length > 0 ? undefined : updatePods(look, instances)
  const creates = createPods(look, goalAfter(look, [...parting.gone, ...(update?.gone ?? [])], update?.changed ?? []), instances)
  const actions = distinct([...refreshed, ...parting.actions, ...(update?.actions ?? [])])
  const wait = update?.wait ?? limitText(look, creates.length)
  return { actions: [...instances.actions, ...inOrder(actions), ...creates, ...actions.filter(isRefusal)], ...(wait === undefined ? {} : { wait }) }
}

const isRefusal = ({ kind }: Action): boolean => kind === 'RefuseUpdate'

/** Actions of one kind stand together. Whoever cannot be updated keeps nobody else from it. */
function inOrder(actions: readonly Action[]): Action[] {
  const kinds: Action['kind'][] = ['PatchLifecycle', 'UpdateInPlace', 'DeletePod']
  return kinds.flatMap((kind) => actions.filter((action) => action.kind === kind))
}

/** One change of state a pod: what is done to it comes before what is due by itself. */
function distinct(actions: readonly Action[]): Action[] {
  const touched = new Set(actions.flatMap((action) => (action.kind === 'DeletePod' ? [action.pod] : [])))
  const last = new Map(actions.flatMap((action) => (action.kind === 'PatchLifecycle' ? [[action.pod, action]] : [])))
  return actions.filter((action) => action.kind !== 'PatchLifecycle' || (last.get(action.pod) === action && !touched.has(action.pod)))
}

function limitText({ goal, bounds }: Look, creates: number): string | undefined {
  if (creates >= goal.missing || goal.mayCreate >= goal.missing) return undefined
  return `more pods are made when fewer than ${bounds.maxUnavailableOfScale} are unavailable`
}

/** Names in `podsToDelete` that no pod has any more. Apart from other steps, so that what is written then is not about an older version of the set. */
function trim({ set, members }: Observed): Action[] {
  const named = set.spec.scaleStrategy?.podsToDelete ?? []
  if (named.length === 0) return []
  const left = named.filter((name) => members.get(name))
  return left.length < named.length ? [{ kind: 'TrimPodsToDelete', left }] : []
}

function forget({ seen, revisions }: Look): Action[] {
  const { revisionHistoryLimit = 10 } = seen.set.spec
  if (seen.history.length <= revisionHistoryLimit) return []
  const isOfPods = (name: string): boolean => seen.members.ofHash.has(hashOfName(name))
  const ofPods = seen.history.map(({ metadata }) => metadata.name!).filter(isOfPods)
  const inUse = new Set([revisions.current.name, revisions.update.name, ...ofPods])
  return surplusRevisions(seen.history, inUse, revisionHistoryLimit).map((revision) => ({ kind: 'DeleteRevision', revision }))
}
