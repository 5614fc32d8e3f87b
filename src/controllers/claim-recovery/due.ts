import type { Pod } from '../../api/generated/types.ts'
import { isPodActive, isPodReady, millisecondsOf } from '../kit/workload/index.ts'
import { conditionOf, sandboxCondition } from './sandbox.ts'

/** What a pod waits for: a sandbox that gets ready, or, with one that is, its own readiness. */
export interface Trouble {
  what: 'sandbox' | 'readiness'
  /** As the condition says it: another time is another wait. */
  since: string
}

/** Undefined for a pod that waits for neither, or of which it is not known since when. */
export function troubleOf(pod: Pod): Trouble | undefined {
  const sandbox = sandboxCondition(pod)
  const since = sandbox?.lastTransitionTime
  if (!isPodActive(pod) || isPodReady(pod) || !since) return undefined
  if (sandbox.status === 'False') return { what: 'sandbox', since }
  return sandbox.status === 'True' && !wasReadySince(pod, since) ? { what: 'readiness', since } : undefined
}

/** One that was ready and is not any more has lost its readiness later than its sandbox got ready: it may be on its way back. */
const wasReadySince = (pod: Pod, since: string): boolean => millisecondsOf(conditionOf(pod, 'Ready')?.lastTransitionTime) > millisecondsOf(since)

/** When it has lasted for too long. */
export const dueAtMs = ({ since }: Trouble, afterMs: number): number => millisecondsOf(since) + afterMs
