import { type Step, revise } from '../kit/index.ts'
import { surplusRevisions } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import type { Derived, Observed } from './observe.ts'
import { fillReplicas, removeCondemned } from './replicas.ts'
import { rollOut } from './update.ts'

/** Decides the next step of a set: fill the ordinals, remove condemned pods, then replace outdated ones. */
export function plan(seen: Derived): Step<Action> {
  // Pods name their revision, so it must exist before them.
  const actions: Action[] = [...ownership(seen), ...revise(seen.revisions.step)]
  let wait: string | undefined
  for (const stage of [fillReplicas, removeCondemned, rollOut]) {
    const { actions: more, wait: reason } = stage(seen)
    for (const action of more) actions.push(action)
    wait = reason
    if (wait !== undefined) break
  }
  actions.push(...forget(seen))
  const { changesAtMs, nowMs } = seen
  return {
    actions,
    ...(wait === undefined ? {} : { wait }),
    ...(changesAtMs === undefined ? {} : { requeueAfterMs: changesAtMs - nowMs }),
  }
}

function ownership({ adopt, release, orphanRevisions }: Observed): Action[] {
  return [
    ...adopt.map((pod): Action => ({ kind: 'AdoptPod', pod })),
    ...release.map((pod): Action => ({ kind: 'ReleasePod', pod })),
    ...orphanRevisions.map((revision): Action => ({ kind: 'AdoptRevision', revision })),
  ]
}

function forget({ set, history, ordinals, revisions }: Derived): Action[] {
  const { revisionHistoryLimit = 10 } = set.spec
  if (history.length <= revisionHistoryLimit) return []
  const ofPods = [...ordinals.ofRevision].flatMap(([revision, count]) => (count > 0 ? [revision] : []))
  const inUse = new Set([revisions.current.name, revisions.update.name, ...ofPods])
  return surplusRevisions(history, inUse, revisionHistoryLimit).map((revision) => ({
    kind: 'DeleteRevision',
    revision,
  }))
}
