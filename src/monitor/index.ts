export { groupForms, groupLabel } from './groups.ts'
export { Monitor, defaultChoices } from './monitor.ts'
export type { MonitorChoices, MonitorOptions } from './monitor.ts'
export type { SandboxConsumer, SandboxObservation } from './observation.ts'
export { SnapshotFile } from './snapshot/snapshots.ts'
export type { SnapshotStorage } from './snapshot/snapshots.ts'
export {
  type LatencyReport,
  type OperatorOptions,
  type Slo,
  SloConsumer,
  type SloReport,
  type SloStatus,
  grafanaDashboard,
  operatorObjects,
  parseSlos,
  prometheusRules,
  sloNeeds,
  thresholdsPast,
} from './slo/index.ts'
