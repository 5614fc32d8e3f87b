import { ownClaims } from './claims.ts'
import type { Look } from './look.ts'
import type { Member } from './member.ts'
import type { Action, Stage } from './plan.ts'

/**
 * Removes pods beyond the replicas, from the highest ordinal. In order, each goes when all others are available, and when
 * the one before it is gone.
 */
export function removeCondemned({ places, isOrdered, seen: { set, claimOf } }: Look): Stage {
  const actions: Action[] = fromHighest(places.needy.condemned).flatMap(({ pod, ordinal }) => ownClaims(set, claimOf, pod, ordinal, true))
  if (!isOrdered) {
    for (const { pod } of fromHighest(places.condemnedStaying)) actions.push({ kind: 'DeletePod', pod })
    return { actions }
  }
  const highest = places.condemned.peek()
  if (!highest) return { actions }
  const name = highest.pod.metadata.name
  if (highest.isTerminating) return { actions, wait: `pod ${name} is going` }
  // All replicas are available, or this stage would not act. The lowest pod that is not available may go itself, or
  // nothing would ever move. One that has ended is waited for by nobody: it will never be available.
  const firstUnavailable = places.condemnedUnavailable.peek()
  if (highest.isUnavailable && !highest.isFinished && highest !== firstUnavailable) {
    return { actions, wait: `pod ${name} goes when pod ${firstUnavailable!.pod.metadata.name} is available` }
  }
  actions.push({ kind: 'DeletePod', pod: highest.pod })
  return { actions, wait: `pod ${name} is going` }
}

const fromHighest = (members: ReadonlyMap<number, Member>): Member[] => [...members.values()].sort((a, b) => b.ordinal - a.ordinal)
