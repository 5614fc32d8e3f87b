import type { Pod, PodCondition } from '../../../api/generated/types.ts'
import { findCondition } from './conditions.ts'
import { timestamp } from '../../../api/timestamp.ts'

export const disruptionTarget = 'DisruptionTarget'

/** What says on a pod why it is about to be ended; undefined if the pod says so already. For the status, as a strategic merge. */
export function disruptionPatch(pod: Pod, reason: string, message: string, nowMs: number): object | undefined {
  const old = findCondition(pod.status?.conditions, disruptionTarget)
  if (old?.status === 'True' && old.reason === reason && old.message === message) return undefined
  const lastTransitionTime = (old?.status === 'True' && old.lastTransitionTime) || timestamp(nowMs)
  const condition: PodCondition = { type: disruptionTarget, status: 'True', reason, message, lastTransitionTime }
  return { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } }
}
