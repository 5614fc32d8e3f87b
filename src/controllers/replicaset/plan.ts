import type { Pod } from '../../api/generated/types.ts'
import type { Step } from '../kit/index.ts'
import { byDeletionRank } from '../kit/workload/index.ts'
import type { Observed } from './observe.ts'

export type Action = { kind: 'AdoptPod'; pod: Pod } | { kind: 'ReleasePod'; pod: Pod } | { kind: 'CreatePod' } | { kind: 'DeletePod'; pod: Pod }

/** How many pods are made or deleted at most before their owner is looked at again. */
export const burst = 500

const create: Action = { kind: 'CreatePod' }

/** First whose the pods are, then how many there are to be. */
export function plan(seen: Observed): Step<Action> {
  const { adopt, release, changesAtMs, nowMs } = seen
  const actions: Action[] = [
    ...adopt.map((pod): Action => ({ kind: 'AdoptPod', pod })),
    ...release.map((pod): Action => ({ kind: 'ReleasePod', pod })),
    ...fitNumber(seen),
  ]
  return { actions, ...(changesAtMs === undefined ? {} : { requeueAfterMs: changesAtMs - nowMs }) }
}

function fitNumber({ tally, adopt, wanted, kept, onNodes, nowMs }: Observed): Action[] {
  const count = tally.kept + adopt.length
  const surplus = count - wanted
  if (surplus < 0) return Array.from({ length: Math.min(-surplus, burst) }, () => create)
  if (surplus === 0) return []
  const pods = [...kept(), ...adopt]
  const ranked = surplus < count ? byDeletionRank(pods, onNodes(), nowMs) : pods
  return ranked.slice(0, Math.min(surplus, burst)).map((pod): Action => ({ kind: 'DeletePod', pod }))
}
