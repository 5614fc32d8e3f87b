import type { Pod } from '../../api/generated/types.ts'
import { sandboxConditionOf } from '../../api/kinds/sandbox-condition.ts'
import { isPodActive, isPodReady, millisecondsOf } from '../kit/workload/index.ts'
import { type Member, type Observed, isWanted } from './observe.ts'
import { conditionOf } from './sandbox.ts'

/** What a pod waits for: a sandbox that gets ready, or, with one that is, its own readiness. */
export interface Trouble {
  what: 'sandbox' | 'readiness'
  /** As the condition says it: another time is another wait. */
  since: string
}

/** Undefined for a pod that waits for neither, or of which it is not known since when. */
export function troubleOf(pod: Pod): Trouble | undefined {
  const sandbox = sandboxConditionOf(pod)
  const since = sandbox?.lastTransitionTime
  if (!isPodActive(pod) || isPodReady(pod) || !since) return undefined
  if (sandbox.status === 'False') return { what: 'sandbox', since }
  return sandbox.status === 'True' && !wasReadySince(pod, since) ? { what: 'readiness', since } : undefined
}

/** One that was ready and is not any more has lost its readiness later than its sandbox got ready: it may be on its way back. */
const wasReadySince = (pod: Pod, since: string): boolean => millisecondsOf(conditionOf(pod, 'Ready')?.lastTransitionTime) > millisecondsOf(since)

/** When it has lasted for too long. */
export const dueAtMs = ({ since }: Trouble, afterMs: number): number => millisecondsOf(since) + afterMs

/** A pod that has been in trouble for too long. */
export interface Due {
  member: Member
  trouble: Trouble
}

/** Who has had their time, and after how long somebody has had it next. */
export interface DuePods {
  due: readonly Due[]
  nextMs: number | undefined
}

/** Who has waited longest is first, so that one that fails again and again keeps nobody from their turn. */
export function duePods({ set, members, nowMs }: Observed, afterMs: number): DuePods {
  const due: Due[] = []
  let nextMs: number | undefined
  for (const member of members) {
    const trouble = isWanted(set, member.ordinal) ? troubleOf(member.pod) : undefined
    if (!trouble) continue
    const leftMs = dueAtMs(trouble, afterMs) - nowMs
    if (leftMs <= 0) due.push({ member, trouble })
    else nextMs = Math.min(nextMs ?? leftMs, leftMs)
  }
  return { due: due.sort((a, b) => dueAtMs(a.trouble, 0) - dueAtMs(b.trouble, 0)), nextMs }
}
