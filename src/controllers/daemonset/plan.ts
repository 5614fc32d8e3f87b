import { soonest } from '../../base/soonest.ts'
import { type Step, revise } from '../kit/index.ts'
import { surplusRevisions } from '../kit/workload/index.ts'
import type { Action, Changes } from './apply.ts'
import { manage } from './manage.ts'
import type { Observed } from './observe.ts'
import { hashOfRevision } from './revision.ts'
import { type Rolling, rollOut } from './rolling.ts'

/** The maximum number of pods that one step creates, and deletes. */
export const burst = 250

const nothing: Rolling = { deletes: [], creates: [] }

/** Decides the next step of a set: first every node gets the pods that it needs, then outdated pods are replaced. */
export function plan(seen: Observed): Step<Action> {
  const { set, adopt, release, revision, changesAtMs, nowMs } = seen
  const managed = manage(seen)
  const isManaged = managed.deletes.length + managed.creates.length === 0
  const rolling = isManaged && set.spec.updateStrategy.type === 'RollingUpdate' ? rollOut(seen) : nothing
  const actions: Action[] = [
    ...adopt.map((pod): Action => ({ kind: 'AdoptPod', pod })),
    ...release.map((pod): Action => ({ kind: 'ReleasePod', pod })),
    ...seen.orphanRevisions.map((r): Action => ({ kind: 'AdoptRevision', revision: r })),
    // Pods name their revision, so it must exist before them.
    ...revise(revision.step),
    ...actionsOf(isManaged ? rolling : managed, revision.hash),
    ...forget(seen),
  ]
  const requeueAfterMs = soonest(changesAtMs === undefined ? undefined : changesAtMs - nowMs, managed.failedInMs)
  return {
    actions,
    ...(rolling.wait === undefined ? {} : { wait: rolling.wait }),
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  }
}

/** Deletes come first, because a failed create must not prevent them. */
const actionsOf = ({ deletes, creates }: Changes, hash: string): Action[] => [
  ...deletes.slice(0, burst),
  ...creates.slice(0, burst).map((node): Action => ({ kind: 'CreatePod', node, hash })),
]

function forget({ set, table, history, revision }: Observed): Action[] {
  const limit = set.spec.revisionHistoryLimit ?? 10
  const old = history.filter((r) => r.metadata.name !== revision.name)
  if (old.length <= limit) return []
  const inUse = new Set(old.filter((r) => (table.ofHash.get(hashOfRevision(r)) ?? 0) > 0).map((r) => r.metadata.name!))
  // Revisions in use count towards the limit but are kept.
  return surplusRevisions(old, inUse, Math.max(0, limit - inUse.size)).map((r): Action => ({
    kind: 'DeleteRevision',
    revision: r,
  }))
}
