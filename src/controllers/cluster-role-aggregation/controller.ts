import { semanticEqual } from '../../api/deep-equal.ts'
import type { ClusterRole, PolicyRule } from '../../api/generated/types.ts'
import { labelSelectorMatches } from '../../api/selectors/label-selector.ts'
import { clusterroles, keyOf } from '../../client/index.ts'
import { type Step, defineController, indexing, watching } from '../kit/index.ts'

export interface Observed {
  role: ClusterRole
  /** All roles. */
  roles: readonly ClusterRole[]
}

export type Action = { kind: 'Write'; rules: PolicyRule[] }

/** Reports whether one role includes the rules of another. */
const aggregates = (role: ClusterRole, other: ClusterRole): boolean =>
  role.metadata.name !== other.metadata.name &&
  Boolean(
    role.aggregationRule?.clusterRoleSelectors?.some((selector) =>
      labelSelectorMatches(selector, other.metadata.labels),
    ),
  )

/** The rules of all selected roles: by selector, then by role name, each rule once. */
function aggregatedRules({ role, roles }: Observed): PolicyRule[] {
  const rules: PolicyRule[] = []
  const byName = roles
    .filter((other) => other.metadata.name !== role.metadata.name)
    .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
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

const aggregating = 'aggregating'

/** Maintains the rules of roles with an aggregation rule. */
export const clusterRoleAggregationController = defineController<ClusterRole, Observed, Action>({
  name: 'clusterroleaggregator',
  owner: clusterroles,
  sources: {
    looksAt: (role) => role.aggregationRule !== undefined,
    watches: [
      watching(clusterroles, (role, caches) =>
        caches
          .byIndex(clusterroles, aggregating, '')
          .filter((other) => aggregates(other, role))
          .map(keyOf),
      ),
    ],
    indexes: [indexing(clusterroles, aggregating, (role: ClusterRole) => (role.aggregationRule ? [''] : []))],
  },
  observe: ({ caches }, role) => ({ role, roles: caches.list(clusterroles) }),
  plan,
  apply: {
    Write: ({ writer, owner }, { rules }) => writer.update(clusterroles, { ...owner, rules }),
  },
})
