import type { Step } from '../kit/index.ts'
import { burst, byDeletionRank } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import type { Observed } from './observe.ts'

const create: Action = { kind: 'CreatePod' }

/** Decides the next step: ownership of pods first, then their number. */
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
