import { semanticEqual } from '../../api/deep-equal.ts'
import type { ClusterRole, PolicyRule } from '../../api/generated/types.ts'
import { labelSelectorMatches } from '../../api/selectors/label-selector.ts'
import type { Step } from '../kit/index.ts'

export interface Observed {
  role: ClusterRole
  /** All roles. */
  roles: readonly ClusterRole[]
}

export type Action = { kind: 'Write'; rules: PolicyRule[] }

/** Whether one role takes over the rules of another. */
export const aggregates = (role: ClusterRole, other: ClusterRole): boolean =>
  role.metadata.name !== other.metadata.name &&
  Boolean(role.aggregationRule?.clusterRoleSelectors?.some((selector) => labelSelectorMatches(selector, other.metadata.labels)))

/** The rules of all roles that are selected: selector by selector, by name, each rule once. */
export function aggregatedRules({ role, roles }: Observed): PolicyRule[] {
  const rules: PolicyRule[] = []
  const byName = roles.filter((other) => other.metadata.name !== role.metadata.name).sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    for (const other of byName) {
      if (!labelSelectorMatches(selector, other.metadata.labels)) continue
      for (const rule of other.rules ?? []) if (!rules.some((known) => semanticEqual(known, rule))) rules.push(rule)
    }
  }
  return rules
}

export function plan(seen: Observed): Step<Action> {
  if (!seen.role.aggregationRule) return { actions: [] }
  const rules = aggregatedRules(seen)
  return { actions: semanticEqual(rules, seen.role.rules ?? []) ? [] : [{ kind: 'Write', rules }] }
}
