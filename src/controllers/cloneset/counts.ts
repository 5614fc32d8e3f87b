import type { CloneSetStatus, Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import type { Action } from './actions.ts'
import type { Look } from './look.ts'
import type { Member } from './member.ts'

export type Counts = Pick<Required<CloneSetStatus>, 'replicas' | 'readyReplicas' | 'availableReplicas' | 'updatedReplicas' | 'updatedReadyReplicas' | 'updatedAvailableReplicas'>

/** The numbers of a set's status. */
export function countMembers(members: Iterable<Member>, updateHash: string): Counts {
  const counts: Counts = { replicas: 0, readyReplicas: 0, availableReplicas: 0, updatedReplicas: 0, updatedReadyReplicas: 0, updatedAvailableReplicas: 0 }
  for (const member of members) {
    counts.replicas++
    const isUpdated = member.hash === updateHash
    if (isUpdated) counts.updatedReplicas++
    countService(counts, member, isUpdated, 1)
  }
  return counts
}

function countService(counts: Counts, { isReady, isAvailable }: Member, isUpdated: boolean, by: 1 | -1): void {
  if (isReady) counts.readyReplicas += by
  if (isAvailable) counts.availableReplicas += by
  if (isUpdated && isReady) counts.updatedReadyReplicas += by
  if (isUpdated && isAvailable) counts.updatedAvailableReplicas += by
}

/** The same once the caches have what was just done: nothing new will have to be said then. */
export function countAfter({ seen, counts, revisions }: Look, { done, failed }: Pick<Outcome<Action>, 'done' | 'failed'>): Counts {
  const after = { ...counts }
  const { hash } = revisions.update
  const members = membersOf(seen.members, [...done, ...failed.map(({ action }) => action)])
  const lose = (member: Member | undefined): void => {
    if (!member) return
    after.replicas--
    if (member.hash === hash) after.updatedReplicas--
    countService(after, member, member.hash === hash, -1)
  }
  for (const { action } of failed) if (action.kind === 'AdoptPod') lose(members.get(action.pod))
  for (const action of done) {
    if (action.kind === 'CreatePod') {
      after.replicas++
      if (action.revision.hash === hash) after.updatedReplicas++
    } else if (action.kind === 'DeletePod') lose(members.get(action.pod))
    else if (action.kind === 'UpdateInPlace') {
      const member = members.get(action.pod)
      if (!member) continue
      after.updatedReplicas++
      // It serves again when its state says so.
      countService(after, member, false, -1)
    }
  }
  return after
}

/** Members by pod, if some action is about one. */
function membersOf(members: readonly Member[], actions: readonly Action[]): Map<Pod, Member> {
  const pods = new Set(actions.flatMap((action) => (action.kind === 'DeletePod' || action.kind === 'UpdateInPlace' || action.kind === 'AdoptPod' ? [action.pod] : [])))
  return pods.size === 0 ? new Map() : new Map(members.flatMap((member) => (pods.has(member.pod) ? [[member.pod, member]] : [])))
}
