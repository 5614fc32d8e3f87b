export { addFaults, clearFaults, followClusterPlan, listFaults } from './cluster-plan.ts'
export { FaultPlan } from './fault-plan.ts'
export { asFaultRule, parseFaults, stageNames } from './fault-rule.ts'
export type { FaultRule, StageName } from './fault-rule.ts'
