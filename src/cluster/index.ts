import type { runControllers as Controllers } from './run-controllers.ts'
import type { runDashboard as Dashboard } from './run-dashboard.ts'
import type { runEverything as Everything } from './run-everything.ts'
import type { runMonitor as RunMonitor } from './run-monitor.ts'
import type { runNodes as Nodes } from './run-node.ts'
import type { runPublisher as Publisher } from './run-publisher.ts'
import type { runScheduler as Scheduler } from './run-scheduler.ts'

export type { LatencyReport, SloReport, SloStatus } from '../monitor/index.ts'
export type { FaultRule } from '../node/index.ts'
export type { AuthenticationFlags } from './authentication.ts'
export type { FaultPlanOptions } from './edit-faults.ts'
export { InProcessTransport } from './in-process-transport.ts'
export { isLoopback } from './reachable.ts'
export type { RunControllersOptions } from './run-controllers.ts'
export type { RunDashboardOptions } from './run-dashboard.ts'
export type { LocalNodes, RunningEverything } from './run-everything.ts'
export type { MonitorFlags, RunMonitorOptions } from './run-monitor.ts'
export type { RunNodesOptions, ShutdownGrace } from './run-node.ts'
export type { Serving } from './monitoring-door.ts'
export type { AuditBackendFlags, AuditFlags } from './audit.ts'
export type { EncryptionFlags } from './encryption.ts'
export type { DoorOptions, PartOptions, RunningPart } from './run-part.ts'
export type { RunPublisherOptions } from './run-publisher.ts'
export type { RunSchedulerOptions } from './run-scheduler.ts'
export { serveApi } from './serve-api.ts'
export type { RunningApi, ServeOptions } from './serve-api.ts'
export { restoreBackup, writeBackup } from './backup.ts'
export { withStore } from './open-store.ts'
export type { EtcdFlags, StoreDriver } from './open-store.ts'
export type { RulesFormat } from './slo-tools.ts'

// Loaded when they are first run: a process that serves only the API has no use for the rest, and no memory for it.
export const runControllers: typeof Controllers = async (...given) => (await import('./run-controllers.ts')).runControllers(...given)
export const runDashboard: typeof Dashboard = async (...given) => (await import('./run-dashboard.ts')).runDashboard(...given)
export const runEverything: typeof Everything = async (...given) => (await import('./run-everything.ts')).runEverything(...given)
export const runMonitor: typeof RunMonitor = async (...given) => (await import('./run-monitor.ts')).runMonitor(...given)
export const runNodes: typeof Nodes = async (...given) => (await import('./run-node.ts')).runNodes(...given)
export const runPublisher: typeof Publisher = async (...given) => (await import('./run-publisher.ts')).runPublisher(...given)
export const runScheduler: typeof Scheduler = async (...given) => (await import('./run-scheduler.ts')).runScheduler(...given)
/** What `coxswain fault` does to the plan of a cluster. */
export const editFaults = () => import('./edit-faults.ts')
/** What is done with files of objectives, and what monitors tell of them. */
export const sloTools = () => import('./slo-tools.ts')
/** What is printed, or written to deploy/, for clusters to run parts of this package. */
export const manifests = () => import('./manifests/deploy-files.ts')
