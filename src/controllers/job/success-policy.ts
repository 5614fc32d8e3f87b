import type { SuccessPolicy, SuccessPolicyRule } from '../../api/generated/types.ts'
import type { IndexSet } from './index-set.ts'

/** Reads the indexes of the rule at a place. */
type Parse = (at: number, text: string) => IndexSet

/** The first rule of a policy that is met by what has succeeded, by its place. */
export function metRule(policy: SuccessPolicy | undefined, succeeded: IndexSet, parse: Parse): number | undefined {
  if (!policy || succeeded.size === 0) return undefined
  const at = policy.rules.findIndex((rule, place) => isMet(rule, succeeded, (text) => parse(place, text)))
  return at < 0 ? undefined : at
}

function isMet(rule: SuccessPolicyRule, succeeded: IndexSet, parse: (text: string) => IndexSet): boolean {
  const { succeededIndexes, succeededCount } = rule
  if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount
  const wanted = parse(succeededIndexes)
  if (wanted.size === 0) return false
  const shared = wanted.sharedWith(succeeded)
  return shared === wanted.size || (succeededCount !== undefined && shared >= succeededCount)
}
