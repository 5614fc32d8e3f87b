import type { SuccessPolicy, SuccessPolicyRule } from '../../api/generated/types.ts'
import { IndexSet } from './index-set.ts'

/** The first rule of a policy that is met by what has succeeded, by its place. */
export function metRule(policy: SuccessPolicy | undefined, succeeded: IndexSet, completions: number): number | undefined {
  if (!policy || succeeded.size === 0) return undefined
  const at = policy.rules.findIndex((rule) => isMet(rule, succeeded, completions))
  return at < 0 ? undefined : at
}

function isMet({ succeededIndexes, succeededCount }: SuccessPolicyRule, succeeded: IndexSet, completions: number): boolean {
  if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount
  const wanted = IndexSet.parse(succeededIndexes, completions)
  if (wanted.size === 0) return false
  const shared = wanted.sharedWith(succeeded)
  return shared === wanted.size || (succeededCount !== undefined && shared >= succeededCount)
}
