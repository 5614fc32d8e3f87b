import { isPodReady, isPodTerminating } from '../kit/workload/index.ts'
import { revisionOf } from './identity.ts'
import type { Look } from './look.ts'
import { isRunningAndAvailable } from './slots.ts'

export interface Counts {
  replicas: number
  readyReplicas: number
  availableReplicas: number
  currentReplicas: number
  updatedReplicas: number
}

/** The numbers of a set's status. Pods that are going are replicas, but of no revision. */
export function countPods({ seen: { set, nowMs }, pods, revisions }: Look): Counts {
  const counts: Counts = { replicas: 0, readyReplicas: 0, availableReplicas: 0, currentReplicas: 0, updatedReplicas: 0 }
  for (const pod of pods) {
    counts.replicas++
    if (pod.status?.phase === 'Running' && isPodReady(pod)) counts.readyReplicas++
    if (isRunningAndAvailable(set, pod, nowMs)) counts.availableReplicas++
    if (isPodTerminating(pod)) continue
    if (revisionOf(pod) === revisions.current.name) counts.currentReplicas++
    if (revisionOf(pod) === revisions.update.name) counts.updatedReplicas++
  }
  return counts
}
