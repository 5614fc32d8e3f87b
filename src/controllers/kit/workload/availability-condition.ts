import { type Cause, afterward, isWorthNaming } from '../../../api/explain/index.ts'
import type { Saying } from './conditions.ts'

/**
 * Words about the first cause for the two conditions: a cause that every pod goes through is named only when the
 * deadline has passed.
 */
export interface Why {
  /** Follows what is said while there is time; '' for nothing. */
  named: string
  /** Follows what is said when time has run out. */
  always: string
}

export const whyOf = (cause: Cause | undefined): Why => ({ named: isWorthNaming(cause) ? afterward(cause) : '', always: afterward(cause) })

/** The Available condition for numbers of replicas. `what` names them: `replicas`, or the nodes of a DaemonSet. */
export function sayAvailable(available: number, least: number, wanted: number, why: Why, what = 'replicas are available'): Saying {
  const isAvailable = available >= least
  return {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `${available} of ${wanted} ${what}.${isAvailable ? '' : why.named}`,
  }
}

/** Drops conditions that are not computed any more: a condition that nobody keeps up would lie. */
export const withoutConditions = <C extends { type: string }>(conditions: readonly C[] | null | undefined, types: readonly string[]): C[] =>
  (conditions ?? []).filter(({ type }) => !types.includes(type))
