export { clusterRoleAggregationController } from './controller.ts'
