import type { ResourceQuota } from '../../api/generated/types.ts'
import { keyOf, resourcequotas } from '../../client/index.ts'
import { type Watch, allIn, defineController, indexByNamespace, watching } from '../kit/index.ts'
import { type CountedKind, type Observed, countedKinds, namesOf, observe } from './observe.ts'
import { plan } from './plan.ts'
import { remember, statusOf } from './status.ts'

/** Objects concern the quotas of their namespace that hold their kind. */
const watchOf = ({ type, evaluator }: CountedKind): Watch =>
  watching(
    type,
    ({ metadata }, caches) =>
      allIn(caches, resourcequotas, metadata.namespace ?? '').filter((quota) => namesOf(quota).some((name) => evaluator.uses(name))).map(keyOf),
    (before, after) => evaluator.mayDiffer(before, after),
  )

/** Keeps the status of quotas true: what they hold, and what is used of it. `kinds` are those whose objects are counted. */
export const quotaControllerOf = (kinds: readonly CountedKind[]) =>
  defineController<ResourceQuota, Observed, never>({
    name: 'resourcequota',
    owner: resourcequotas,
    watches: kinds.map(watchOf),
    // What is not served cannot be used.
    dispensable: kinds.map(({ type }) => type).filter(({ group }) => group !== ''),
    indexes: kinds.map(({ type }) => indexByNamespace(type)),
    observe,
    plan,
    apply: {},
    status: statusOf,
    remember,
  })

/** Counts objects of every kind that is built in. */
export const resourceQuotaController = quotaControllerOf(countedKinds)
