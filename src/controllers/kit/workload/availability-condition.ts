import { type Cause, afterward, isWorthNaming } from '../../../api/explain/index.ts'
import { type Verb, shareOf } from '../../../api/plural.ts'
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

/** Names what is counted: replicas, or the nodes of a DaemonSet. */
interface Counted {
  noun: string
  verb: Verb
  rest: string
}

const replicas: Counted = { noun: 'replica', verb: ['is', 'are'], rest: 'available' }
export const nodesWithPod: Counted = { noun: 'node', verb: ['has', 'have'], rest: 'an available pod' }

/** The Available condition for numbers of replicas, or of what else is counted. */
export function sayAvailable(
  available: number, least: number, wanted: number, why: Why, { noun, verb, rest } = replicas,
): Saying {
  const isAvailable = available >= least
  return {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `${shareOf(available, wanted, noun, verb)} ${rest}.${isAvailable ? '' : why.named}`,
  }
}

/** Drops conditions that are not computed any more: a condition that nobody keeps up would lie. */
export const withoutConditions = <C extends { type: string }>(conditions: readonly C[] | null | undefined, types: readonly string[]): C[] =>
  (conditions ?? []).filter(({ type }) => !types.includes(type))
