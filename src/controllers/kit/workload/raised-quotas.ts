import { deepEqual } from '../../../api/deep-equal.ts'
import type { ResourceQuota } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type ResourceType, keyOf, resourceName, resourcequotas } from '../../../client/index.ts'
import { type CacheIndex, type Watch, indexing, watching } from '../definition.ts'
import { type Condition, isConditionTrue } from './conditions.ts'

/** An owner that says when it cannot create. */
interface Failing extends KubeObject {
  status?: { conditions?: readonly Condition[] }
}

const hasReplicaFailure = (conditions: readonly Condition[] | undefined): boolean => isConditionTrue(conditions, 'ReplicaFailure')

/** What wakes owners that could not create when a quota of their namespace allows something else: their back-off may have grown to minutes. */
export function raisedQuotas<Owner extends Failing>(
  type: ResourceType<Owner>, isFailing: (conditions: readonly Condition[] | undefined) => boolean = hasReplicaFailure,
): { watch: Watch; index: CacheIndex } {
  const name = `failing-${resourceName(type)}`
  const index = indexing(type, name, ({ status, metadata }: Owner) => (isFailing(status?.conditions) ? [metadata.namespace ?? ''] : []))
  // What is used changes all the time, and by failed attempts, too.
  const isRaised = (before: ResourceQuota, after: ResourceQuota) =>
    !deepEqual(before.status?.hard, after.status?.hard) || !deepEqual(before.spec?.hard, after.spec?.hard)
  const watch = watching(resourcequotas, ({ metadata }, caches) => caches.byIndex(type, name, metadata.namespace ?? '').map(keyOf), isRaised)
  return { index, watch }
}
