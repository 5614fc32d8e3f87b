import type { CloneSetStatus } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import type { Action } from './actions.ts'
import type { Seat } from './entry.ts'
import type { Look } from './look.ts'

/** The numbers of a set's status. */
export type Counts = Pick<
  Required<CloneSetStatus>,
  | 'replicas' | 'readyReplicas' | 'availableReplicas'
  | 'updatedReplicas' | 'updatedReadyReplicas' | 'updatedAvailableReplicas'
>

export const noCounts = (): Counts => ({
  replicas: 0, readyReplicas: 0, availableReplicas: 0,
  updatedReplicas: 0, updatedReadyReplicas: 0, updatedAvailableReplicas: 0,
})

/** Counts a member in, or out again. */
export function countIn(counts: Counts, seat: Seat, by: 1 | -1): void {
  counts.replicas += by
  if (seat.isUpdated) counts.updatedReplicas += by
  countService(counts, seat, by)
}

function countService(counts: Counts, { isReady, isAvailable, isUpdated }: Seat, by: 1 | -1): void {
  if (isReady) counts.readyReplicas += by
  if (isAvailable) counts.availableReplicas += by
  if (isUpdated && isReady) counts.updatedReadyReplicas += by
  if (isUpdated && isAvailable) counts.updatedAvailableReplicas += by
}

/** The counts once the caches have what was just done: nothing new will have to be said then. */
export function countAfter(look: Look, { done, failed }: Pick<Outcome<Action>, 'done' | 'failed'>): Counts {
  const { seen: { members }, counts, revisions } = look
  const after = { ...counts }
  const { hash } = revisions.update
  const lose = (name: string): void => {
    const seat = members.get(name)
    if (seat) countIn(after, seat, -1)
  }
  for (const { action } of failed) if (action.kind === 'AdoptPod') lose(action.pod.metadata.name!)
  for (const action of done) {
    if (action.kind === 'CreatePod') {
      after.replicas++
      if (action.revision.hash === hash) after.updatedReplicas++
    } else if (action.kind === 'DeletePod') lose(action.pod.metadata.name!)
    else if (action.kind === 'UpdateInPlace') {
      const seat = members.get(action.pod.metadata.name!)
      if (!seat) continue
      after.updatedReplicas++
      // It serves again when its state says so.
      countService(after, { ...seat, isUpdated: false }, -1)
    }
  }
  return after
}
