import { type BackOff, backOffAfter, indexBackOff, noBackOff, waitMs } from '../../api/kinds/job-back-off.ts'
import type { Pod } from '../../api/generated/types.ts'
import { isPodTerminating } from '../kit/workload/index.ts'
import { isTracked } from './tracking.ts'

export { type BackOff, backOffAfter, endedAtMs, waitMs } from '../../api/kinds/job-back-off.ts'

/** What pods that are still there tell of failures that were counted before this process began. Those that were deleted may have been unwanted. */
export function recoverBackOff(pods: readonly Pod[], isCounted: (pod: Pod) => boolean): BackOff {
  const ended = pods.filter((pod) => !isPodTerminating(pod) && (!isTracked(pod) || isCounted(pod)))
  return backOffAfter(noBackOff, ended.filter((p) => p.status?.phase === 'Succeeded'), ended.filter((p) => p.status?.phase === 'Failed'))
}

/** How long no pod of an index is to be made, by the last of its pods that failed. */
export const indexWaitMs = (lastFailed: Pod | undefined, nowMs: number): number =>
  lastFailed ? waitMs(indexBackOff(lastFailed), nowMs) : 0
