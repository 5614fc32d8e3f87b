import { deepEqual } from '../../api/deep-equal.ts'
import type { Pod } from '../../api/generated/types.ts'
import { controllerOf, pods, replicasets } from '../../client/index.ts'
import { type ControllerDefinition, defineController, watching } from '../kit/index.ts'
import { keysSelecting, raisedQuotas, selectorIndex } from '../kit/workload/index.ts'
import { apply } from './apply.ts'
import { type Observed, type ReplicaKind, type ReplicaOwner, observe } from './observe.ts'
import { type Action, plan } from './plan.ts'
import { status } from './status.ts'

/** A controller that keeps a number of equal pods for each owner of a kind. */
export function defineReplicaController<Owner extends ReplicaOwner>(name: string, kind: ReplicaKind<Owner>): ControllerDefinition<Owner, Observed, Action> {
  const selecting = selectorIndex(kind.type, kind.selectorOf)
  const quotas = raisedQuotas(kind.type)
  return defineController<Owner, Observed, Action>({
    name,
    owner: kind.type,
    owns: [pods],
    watches: [
      // Whoever selects a pod that nobody manages may adopt it.
      watching(pods, (pod, caches) => (controllerOf(pod) ? [] : keysSelecting(selecting, caches, pod)), mayBeAdopted),
      quotas.watch,
    ],
    indexes: [selecting.index, quotas.index],
    gate: 'StaleControllerConsistencyReplicaSet',
    workers: 20,
    observe: (ctx, owner) => observe(kind, ctx, owner),
    plan,
    apply,
    status: status as ControllerDefinition<Owner, Observed, Action>['status'],
  })
}

/** Whether a pod is to be had that was not, or by others. */
const mayBeAdopted = (before: Pod, after: Pod): boolean =>
  !controllerOf(after) && (controllerOf(before) !== undefined || !deepEqual(before.metadata.labels, after.metadata.labels))

/** Keeps the pods of ReplicaSets. */
export const replicaSetController = defineReplicaController('replicaset', {
  type: replicasets,
  selectorOf: (set) => set.spec?.selector,
  countsTerminating: true,
})
