import type { ClusterRole } from '../../api/generated/types.ts'
import { clusterroles, keyOf } from '../../client/index.ts'
import { defineController, indexing, watching } from '../kit/index.ts'
import { type Action, type Observed, aggregates, plan } from './plan.ts'

const aggregating = 'aggregating'

/** Gives roles with an aggregation rule the rules of the roles they select. */
export const clusterRoleAggregationController = defineController<ClusterRole, Observed, Action>({
  name: 'clusterroleaggregator',
  owner: clusterroles,
  looksAt: (role) => role.aggregationRule !== undefined,
  watches: [
    watching(clusterroles, (role, caches) => caches.byIndex(clusterroles, aggregating, '').filter((other) => aggregates(other, role)).map(keyOf)),
  ],
  indexes: [indexing(clusterroles, aggregating, (role: ClusterRole) => (role.aggregationRule ? [''] : []))],
  observe: ({ caches }, role) => ({ role, roles: caches.list(clusterroles) }),
  plan,
  apply: {
    Write: ({ writer, owner }, { rules }) => writer.update(clusterroles, { ...owner, rules }),
  },
})
