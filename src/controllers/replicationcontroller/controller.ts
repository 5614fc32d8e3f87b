import { replicationcontrollers } from '../../client/index.ts'
import { defineReplicaController } from '../replicaset/controller.ts'

/** Maintains the pods of ReplicationControllers, the predecessor of ReplicaSets, whose selector is a map of labels. */
export const replicationControllerController = defineReplicaController('replication', {
  type: replicationcontrollers,
  selectorOf: ({ spec }) => (spec?.selector ? { matchLabels: spec.selector } : undefined),
  countsTerminating: false,
})
