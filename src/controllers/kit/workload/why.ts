import type { Pod } from '../../../api/generated/types.ts'
import { type ClaimOf, blockerOf, blockerText } from './blocked.ts'
import type { Saying } from './conditions.ts'

/** What a workload waits for, as sentences with a blank before them; '' for nothing. */
export interface Why {
  /** What looks like trouble. */
  trouble: string
  /** The same, or what merely takes its time. */
  blocker: string
}

/** A pod that cannot be made or deleted (`failure`) comes first, then pods that are in trouble, then whatever the plan waits for. */
export function whyOf(late: Iterable<Pod>, claimOf: ClaimOf | undefined, failure: string | undefined, wait: string | undefined): Why {
  if (failure) return { trouble: ` ${sentence(failure)}`, blocker: ` ${sentence(failure)}` }
  const blocker = blockerOf(late, claimOf)
  const text = blocker ? blockerText(blocker) : wait
  return { trouble: blocker?.isTrouble ? ` ${sentence(text!)}` : '', blocker: text ? ` ${sentence(text)}` : '' }
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`

/** What Available says of so many of so many replicas. */
export function sayAvailable(available: number, least: number, replicas: number, trouble: string): Saying {
  const isAvailable = available >= least
  return {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `${available} of ${replicas} replicas are available.${isAvailable ? '' : trouble}`,
  }
}
