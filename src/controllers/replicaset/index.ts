export { defineReplicaController, replicaSetController } from './controller.ts'
