import { pods, replicasets } from '../../client/index.ts'
import { type ControllerDefinition, type StatusStage, defineController, ownedPods } from '../kit/index.ts'
import { raisedQuotas, selectedOrphans, selectorIndex } from '../kit/workload/index.ts'
import { type Action, apply } from './apply.ts'
import { type Observed, type ReplicaKind, type ReplicaOwner, observe } from './observe.ts'
import { plan } from './plan.ts'
import { status } from './status.ts'

/** Defines a controller that maintains a number of identical pods for each owner of a kind. */
export function defineReplicaController<Owner extends ReplicaOwner>(
  name: string,
  kind: ReplicaKind<Owner>,
): ControllerDefinition<Owner, Observed, Action> {
  const selecting = selectorIndex(kind.type, kind.selectorOf)
  const quotas = raisedQuotas(kind.type)
  return defineController<Owner, Observed, Action>({
    name,
    owner: kind.type,
    sources: {
      owns: [pods],
      watches: [selectedOrphans(selecting, pods), quotas.watch],
      indexes: [selecting.index, quotas.index],
      rosters: ownedPods,
    },
    consistency: { gate: 'StaleControllerConsistencyReplicaSet' },
    timing: { workers: 20 },
    observe: (ctx, owner) => observe(kind, ctx, owner),
    plan,
    apply,
    status: { compute: status as StatusStage<Owner, Observed, Action>['compute'] },
  })
}

/** Maintains the pods of ReplicaSets. */
export const replicaSetController = defineReplicaController('replicaset', {
  type: replicasets,
  selectorOf: (set) => set.spec?.selector,
  countsTerminating: true,
})
