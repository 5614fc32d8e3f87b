export { addFaults, clearFaults, followClusterPlan, listFaults } from './cluster-plan.ts'
export { FaultPlan } from './fault-plan.ts'
export { asFaultRule, parseFaults } from './fault-rule.ts'
export type { FaultRule } from './fault-rule.ts'
