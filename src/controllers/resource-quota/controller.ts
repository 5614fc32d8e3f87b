import type { ResourceQuota } from '../../api/generated/types.ts'
import { keyOf, resourcequotas } from '../../client/index.ts'
import { type Watch, allIn, defineController, indexByNamespace, watching } from '../kit/index.ts'
import { type CountedKind, type Observed, countedKinds, namesOf, observe } from './observe.ts'
import { plan } from './plan.ts'
import { remember, status } from './status.ts'

/** Objects concern the quotas of their namespace that limit their kind. */
const watchOf = ({ type, evaluator }: CountedKind): Watch =>
  watching(
    type,
    ({ metadata }, caches) =>
      allIn(caches, resourcequotas, metadata.namespace ?? '')
        .filter((quota) => namesOf(quota).some((name) => evaluator.uses(name)))
        .map(keyOf),
    (before, after) => evaluator.mayDiffer(before, after),
  )

/** Maintains the status of quotas: the limits and the usage. `kinds` are the kinds that are counted. */
export const quotaControllerOf = (kinds: readonly CountedKind[]) =>
  defineController<ResourceQuota, Observed, never>({
    name: 'resourcequota',
    owner: resourcequotas,
    sources: {
      watches: kinds.map(watchOf),
      // A kind that is not served cannot be used.
      dispensable: kinds.map(({ type }) => type).filter(({ group }) => group !== ''),
      indexes: kinds.map(({ type }) => indexByNamespace(type)),
    },
    observe,
    plan,
    apply: {},
    status: { compute: status },
    remember,
  })

/** Counts objects of all built-in kinds. */
export const resourceQuotaController = quotaControllerOf(countedKinds)
