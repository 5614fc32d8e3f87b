import type { Pod } from '../../api/generated/types.ts'
import { isPodReady, isPodTerminating, staysWhenDeleted } from '../kit/workload/index.ts'
import { revisionOf } from './identity.ts'
import type { Look } from './look.ts'
import type { Action } from './plan.ts'

export interface Counts {
  replicas: number
  readyReplicas: number
  availableReplicas: number
  currentReplicas: number
  updatedReplicas: number
}

/** The numbers of a set's status. Pods that are going are replicas, but of no revision. */
export function countPods({ pods, revisions, isRunningAndAvailable }: Omit<Look, 'counts'>): Counts {
  const counts: Counts = { replicas: pods.length, readyReplicas: 0, availableReplicas: 0, currentReplicas: 0, updatedReplicas: 0 }
  for (const pod of pods) {
    if (pod.status?.phase === 'Running' && isPodReady(pod)) counts.readyReplicas++
    if (isRunningAndAvailable(pod)) counts.availableReplicas++
    if (!isPodTerminating(pod)) countRevision(counts, revisions, pod, 1)
  }
  return counts
}

/** The same once the caches have what was just made and deleted: nothing new will have to be said then. */
export function countAfter({ counts, revisions }: Look, done: readonly Action[]): Counts {
  const after = { ...counts }
  for (const action of done) {
    if (action.kind === 'CreatePod') {
      after.replicas++
      countRevision(after, revisions, action.pod, 1)
    } else if (action.kind === 'DeletePod' && !isPodTerminating(action.pod)) {
      if (!staysWhenDeleted(action.pod)) after.replicas--
      countRevision(after, revisions, action.pod, -1)
    }
  }
  return after
}

function countRevision(counts: Counts, { current, update }: Look['revisions'], pod: Pick<Pod, 'metadata'>, by: 1 | -1): void {
  const revision = revisionOf(pod)
  if (revision === current.name) counts.currentReplicas += by
  if (revision === update.name) counts.updatedReplicas += by
}
