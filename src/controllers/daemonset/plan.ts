import type { Pod } from '../../api/generated/types.ts'
import { soonest } from '../../base/soonest.ts'
import { type RevisionAction, type Step, revise } from '../kit/index.ts'
import { surplusRevisions } from '../kit/workload/index.ts'
import { type Changes, manage } from './manage.ts'
import type { Observed } from './observe.ts'
import { hashOfRevision } from './revision.ts'
import { type Rolling, rollOut } from './rolling.ts'

export interface DeletePod {
  kind: 'DeletePod'
  pod: Pod
  node: string
  /** What users are told of a pod that has ended. */
  because?: 'failed' | 'succeeded'
}

export type Action =
  | RevisionAction
  | { kind: 'AdoptPod'; pod: Pod }
  | { kind: 'ReleasePod'; pod: Pod }
  | { kind: 'CreatePod'; node: string; hash: string }
  | DeletePod

/** How many pods are made, and deleted, at most before their set is looked at again. */
export const burst = 250

const nothing: Rolling = { deletes: [], creates: [] }

/** Decides the next step of a set: first every node has what it is to have, then what is outdated is replaced. */
export function plan(seen: Observed): Step<Action> {
  const { set, adopt, release, revision, changesAtMs, nowMs } = seen
  const managed = manage(seen)
  const isManaged = managed.deletes.length + managed.creates.length === 0
  const rolling = isManaged && set.spec.updateStrategy.type === 'RollingUpdate' ? rollOut(seen) : nothing
  const actions: Action[] = [
    ...adopt.map((pod): Action => ({ kind: 'AdoptPod', pod })),
    ...release.map((pod): Action => ({ kind: 'ReleasePod', pod })),
    ...seen.orphanRevisions.map((r): Action => ({ kind: 'AdoptRevision', revision: r })),
    // Pods name their revision: it has to be there before them.
    ...revise(revision.step),
    ...actionsOf(isManaged ? rolling : managed, revision.hash),
    ...forget(seen),
  ]
  const requeueAfterMs = soonest(changesAtMs === undefined ? undefined : changesAtMs - nowMs, managed.failedInMs)
  return { actions, ...(rolling.wait === undefined ? {} : { wait: rolling.wait }), ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) }
}

/** Deletes come first: what cannot be made must not keep what has to go. */
const actionsOf = ({ deletes, creates }: Changes, hash: string): Action[] => [
  ...deletes.slice(0, burst),
  ...creates.slice(0, burst).map((node): Action => ({ kind: 'CreatePod', node, hash })),
]

function forget({ set, places, history, revision }: Observed): Action[] {
  const limit = set.spec.revisionHistoryLimit ?? 10
  const old = history.filter((r) => r.metadata.name !== revision.name)
  if (old.length <= limit) return []
  const inUse = new Set(old.filter((r) => (places.ofHash.get(hashOfRevision(r)) ?? 0) > 0).map((r) => r.metadata.name!))
  // Those in use count, too, and stay.
  return surplusRevisions(old, inUse, Math.max(0, limit - inUse.size)).map((r): Action => ({ kind: 'DeleteRevision', revision: r }))
}
