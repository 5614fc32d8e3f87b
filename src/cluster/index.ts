import type { createToken as CreateToken } from './joining/create-token.ts'
import type { examine as Examine } from './doctor/index.ts'
import type { joinServers as JoinServers } from './joining/join-server.ts'
import type { runControllers as Controllers } from './parts/run-controllers.ts'
import type { runDashboard as Dashboard } from './parts/run-dashboard.ts'
import type { chooseRuntime as Choose } from './parts/choose-runtime.ts'
import type { runEverything as Everything } from './parts/run-everything.ts'
import type { runMonitor as RunMonitor } from './parts/run-monitor.ts'
import type { runNodes as Nodes } from './parts/run-node.ts'
import type { runPublisher as Publisher } from './parts/run-publisher.ts'
import type { runScheduler as Scheduler } from './parts/run-scheduler.ts'

export type { LatencyReport, SloReport, SloStatus } from '../monitor/index.ts'
export type { FaultRule } from '../node/index.ts'
export type { AuthenticationFlags } from './serving/authentication.ts'
export type { FaultPlanOptions } from './tools/edit-faults.ts'
export { InProcessTransport } from './parts/in-process-transport.ts'
export { isLoopback } from './serving/reachable.ts'
export type { RunControllersOptions } from './parts/run-controllers.ts'
export type { ChosenRuntime } from './parts/choose-runtime.ts'
export type { LocalNodes, RunningEverything } from './parts/run-everything.ts'
export { type DnsFlags, defaultDns } from './serving/service-range.ts'
export type { MonitorFlags, RunMonitorOptions } from './parts/run-monitor.ts'
export type { RunNodesOptions, ShutdownGrace } from './parts/run-node.ts'
export type { Serving } from './serving/monitoring-door.ts'
export type { Finding } from './doctor/index.ts'
export type { AuditBackendFlags, AuditFlags } from './serving/audit.ts'
export type { DoorOptions, PartOptions, RunningPart } from './parts/run-part.ts'
export type { RunPublisherOptions } from './parts/run-publisher.ts'
export type { RunSchedulerOptions } from './parts/run-scheduler.ts'
export { serveApi } from './serving/serve-api.ts'
export type { RunningApi } from './serving/serve-api.ts'
export { type ServeOptions, nodeDirectoryOf } from './serving/serve-options.ts'
export { restoreInto, takeBackup } from './tools/backup.ts'
export type { EtcdFlags, StoreDriver } from './serving/open-store.ts'
export type { RulesFormat } from './tools/slo-tools.ts'

// Loaded on first use: a process that only serves the API does not need the rest in memory.
export const runControllers: typeof Controllers = async (...given) =>
  (await import('./parts/run-controllers.ts')).runControllers(...given)
export const runDashboard: typeof Dashboard = async (...given) =>
  (await import('./parts/run-dashboard.ts')).runDashboard(...given)
export const chooseRuntime: typeof Choose = async (...given) =>
  (await import('./parts/choose-runtime.ts')).chooseRuntime(...given)
export const runEverything: typeof Everything = async (...given) =>
  (await import('./parts/run-everything.ts')).runEverything(...given)
export const runMonitor: typeof RunMonitor = async (...given) =>
  (await import('./parts/run-monitor.ts')).runMonitor(...given)
export const runNodes: typeof Nodes = async (...given) => (await import('./parts/run-node.ts')).runNodes(...given)
export const runPublisher: typeof Publisher = async (...given) =>
  (await import('./parts/run-publisher.ts')).runPublisher(...given)
export const runScheduler: typeof Scheduler = async (...given) =>
  (await import('./parts/run-scheduler.ts')).runScheduler(...given)
export const createToken: typeof CreateToken = async (...given) =>
  (await import('./joining/create-token.ts')).createToken(...given)
export const joinServers: typeof JoinServers = async (...given) =>
  (await import('./joining/join-server.ts')).joinServers(...given)
/** The implementation of `coxswain fault`. */
export const editFaults = () => import('./tools/edit-faults.ts')
/** Operations on files of objectives and on monitors' reports. */
export const sloTools = () => import('./tools/slo-tools.ts')
/** Stops the processes of a data directory, and removes it. */
export const dataDirectories = () => import('./tools/data-directory.ts')
/** Generates the manifests that are printed or written to deploy/. */
export const manifests = () => import('./manifests/deploy-files.ts')
/** Examines the requirements of a server: `coxswain doctor`. */
export const examine: typeof Examine = async (...given) => (await import('./doctor/index.ts')).examine(...given)
