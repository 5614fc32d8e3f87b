import { isPodTerminating, staysWhenDeleted } from '../kit/workload/index.ts'
import { revisionOf } from './identity.ts'
import type { Look } from './look.ts'
import type { Member } from './member.ts'
import type { Action } from './plan.ts'
import type { Revisions } from './revision.ts'

export interface Counts {
  replicas: number
  readyReplicas: number
  availableReplicas: number
  currentReplicas: number
  updatedReplicas: number
}

/** The numbers of a set's status. Pods that are going are replicas, but of no revision. */
export function countPods(members: readonly Member[], revisions: Revisions): Counts {
  const counts: Counts = { replicas: members.length, readyReplicas: 0, availableReplicas: 0, currentReplicas: 0, updatedReplicas: 0 }
  for (const { isReady, isAvailable, isTerminating, revision } of members) {
    if (isReady) counts.readyReplicas++
    if (isAvailable) counts.availableReplicas++
    if (!isTerminating) countRevision(counts, revisions, revision, 1)
  }
  return counts
}

/** The same once the caches have what was just made and deleted: nothing new will have to be said then. */
export function countAfter({ counts, revisions }: Look, done: readonly Action[]): Counts {
  const after = { ...counts }
  for (const action of done) {
    if (action.kind === 'CreatePod') {
      after.replicas++
      countRevision(after, revisions, revisionOf(action.pod), 1)
    } else if (action.kind === 'DeletePod' && !isPodTerminating(action.pod)) {
      if (!staysWhenDeleted(action.pod)) after.replicas--
      countRevision(after, revisions, revisionOf(action.pod), -1)
    }
  }
  return after
}

function countRevision(counts: Counts, { current, update }: Revisions, revision: string, by: 1 | -1): void {
  if (revision === current.name) counts.currentReplicas += by
  if (revision === update.name) counts.updatedReplicas += by
}
