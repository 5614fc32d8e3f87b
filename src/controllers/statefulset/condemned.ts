import { ownClaims } from './claims.ts'
import type { Look } from './look.ts'
import type { Action, Stage } from './plan.ts'

/** Removes pods beyond the replicas, from the highest ordinal. In order, each goes when all others are available, and when the one before it is gone. */
export function removeCondemned(look: Look): Stage {
  const { condemned, isOrdered } = look
  const actions: Action[] = condemned.flatMap(({ pod, ordinal }) => ownClaims(look, pod, ordinal, true))
  if (!isOrdered) {
    for (const { pod, isTerminating } of condemned) if (!isTerminating) actions.push({ kind: 'DeletePod', pod })
    return { actions }
  }
  const highest = condemned[0]
  if (!highest) return { actions }
  const name = highest.pod.metadata.name
  if (highest.isTerminating) return { actions, wait: `pod ${name} is going` }
  // All replicas are available, or this stage would not act. The lowest pod that is not available may go itself, or nothing would ever move. One that has ended is
  // waited for by nobody: it will never be available.
  const firstUnavailable = condemned.findLast((member) => member.isUnavailable && !member.isFinished)
  if (highest.isUnavailable && !highest.isFinished && highest !== firstUnavailable) {
    return { actions, wait: `pod ${name} goes when pod ${firstUnavailable!.pod.metadata.name} is available` }
  }
  actions.push({ kind: 'DeletePod', pod: highest.pod })
  return { actions, wait: `pod ${name} is going` }
}
