import type { Step } from '../kit/index.ts'
import type { Observed } from './observe.ts'
import { findingOf } from './status.ts'

/** The usage is recounted periodically, as in Kubernetes. */
const recountEveryMs = 5 * 60_000

function nextCountMs(seen: Observed): number {
  const { nowMs, remembered, nextEndMs } = seen
  const finding = findingOf(seen)
  switch (finding.kind) {
    case 'not counted':
      return remembered!.countedAtMs + remembered!.pauseMs - nowMs
    case 'doubtful':
      return finding.forMs
    default:
      return Math.min(recountEveryMs, nextEndMs === undefined ? Infinity : nextEndMs - nowMs + 1)
  }
}

/** Sets the time of the next count. There are no actions. */
export const plan = (seen: Observed): Step<never> => ({ actions: [], requeueAfterMs: nextCountMs(seen) })
