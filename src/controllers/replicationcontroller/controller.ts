import { replicationcontrollers } from '../../client/index.ts'
import { defineReplicaController } from '../replicaset/index.ts'

/** Keeps the pods of ReplicationControllers: ReplicaSets under an older name, whose selector has labels only. */
export const replicationControllerController = defineReplicaController('replication', {
  type: replicationcontrollers,
  selectorOf: ({ spec }) => (spec?.selector ? { matchLabels: spec.selector } : undefined),
  countsTerminating: false,
})
