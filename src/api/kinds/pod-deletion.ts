import type { Pod } from '../generated/types.ts'
import type { Int64 } from '../int64.ts'

/** A pod that has run to its end. */
export const isFinished = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'

/**
 * How many seconds a pod has between a delete request and its end: what was asked for, else what its spec says. Nothing runs in a
 * pod without a node or one that has finished, so these end at once; a negative number is one second.
 */
export function podDeletionGracePeriod(pod: Pod, requested: Int64 | undefined): Int64 {
  if (!pod.spec?.nodeName || isFinished(pod)) return 0
  const seconds = requested ?? pod.spec.terminationGracePeriodSeconds ?? 0
  return seconds < 0 ? 1 : seconds
}
