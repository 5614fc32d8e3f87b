export type { QuotaEvaluator, QuotaRequest } from './evaluator.ts'
export { evaluatorOf } from './evaluators.ts'
export { uncountedAtMs } from './pod-evaluator.ts'
export { isInScope, totalUsage, usageOf } from './quota-match.ts'
