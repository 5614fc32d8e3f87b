import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import type { OwnerReference } from '../../api/object.ts'
import type { New } from '../../client/index.ts'
import { type RevisionAction, type Step, revise } from '../kit/index.ts'
import { surplusRevisions } from '../kit/workload/index.ts'
import { type Look, lookAt } from './look.ts'
import type { Observed } from './observe.ts'
import { fillReplicas } from './replicas.ts'
import { removeCondemned } from './condemned.ts'
import { rollOut } from './update.ts'

export type Action =
  | RevisionAction
  | { kind: 'AdoptPod'; pod: Pod }
  | { kind: 'ReleasePod'; pod: Pod }
  /** With the claims that it lacks, which are made first. */
  | { kind: 'CreatePod'; pod: New<Pod>; claims: readonly New<PersistentVolumeClaim>[] }
  | { kind: 'CreateClaims'; pod: Pod; claims: readonly New<PersistentVolumeClaim>[] }
  | { kind: 'OwnClaim'; claim: PersistentVolumeClaim; owners: readonly OwnerReference[] }
  | { kind: 'LabelPod'; pod: Pod; labels: Readonly<Record<string, string>> }
  /** `ifUnchanged`: because it serves nobody, which must still be so when it goes. */
  | { kind: 'DeletePod'; pod: Pod; ifUnchanged?: true }

/** What one stage wants, and whether those after it have to wait for it. */
export interface Stage {
  actions: readonly Action[]
  /** Why no later stage may act; undefined if they may. */
  wait?: string
}

/** Decides the next step of a set: its places are filled first, then those that are too many go, then what is outdated is replaced. */
export function plan(seen: Observed): Step<Action> {
  const look = lookAt(seen)
  // Pods name their revision: it has to be there before them.
  const actions: Action[] = [...belongings(seen), ...revise(look.revisions.step)]
  let wait: string | undefined
  for (const stage of [fillReplicas, removeCondemned, rollOut]) {
    const { actions: more, wait: reason } = stage(look)
    actions.push(...more)
    wait = reason
    if (wait !== undefined) break
  }
  actions.push(...forget(look))
  const { changesAtMs, nowMs } = seen
  return { actions, ...(wait === undefined ? {} : { wait }), ...(changesAtMs === undefined ? {} : { requeueAfterMs: changesAtMs - nowMs }) }
}

function belongings({ adopt, release, orphanRevisions }: Observed): Action[] {
  return [
    ...adopt.map((pod): Action => ({ kind: 'AdoptPod', pod })),
    ...release.map((pod): Action => ({ kind: 'ReleasePod', pod })),
    ...orphanRevisions.map((revision): Action => ({ kind: 'AdoptRevision', revision })),
  ]
}

function forget({ seen, places, revisions }: Look): Action[] {
  const { revisionHistoryLimit = 10 } = seen.set.spec
  if (seen.history.length <= revisionHistoryLimit) return []
  const ofPods = [...places.ofRevision].flatMap(([revision, count]) => (count > 0 ? [revision] : []))
  const inUse = new Set([revisions.current.name, revisions.update.name, ...ofPods])
  return surplusRevisions(seen.history, inUse, revisionHistoryLimit).map((revision) => ({ kind: 'DeleteRevision', revision }))
}
