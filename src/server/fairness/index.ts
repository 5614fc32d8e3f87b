export { Fairness, Seat, defaultFairness } from './fairness.ts'
export type { FairnessSettings } from './fairness.ts'
export { flowRequestOf, isLongRunning, objectsOf, objectsRead } from './flow-request.ts'
export { followFlowObjects } from './schema-status.ts'
