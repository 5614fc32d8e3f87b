import { hostname } from 'node:os'
import path from 'node:path'
import { systemClock } from '../base/clock.ts'
import { systemRandom } from '../base/random.ts'
import { type TermRunnerOptions, leaderIdentity, loadAccess } from '../client/index.ts'
import { ControllerManager, selectControllers } from '../controllers/index.ts'
import type { RunningDashboard } from '../dashboard/index.ts'
import type { Slo } from '../monitor/index.ts'
import { Scheduler } from '../scheduler/index.ts'
import type { UserInfo } from '../server/index.ts'
import { InProcessTransport } from './in-process-transport.ts'
import { type NodesOptions, type RunNodesOptions, makeNodes, readCatalogue } from './run-node.ts'
import type { MonitorFlags } from './run-monitor.ts'
import type { Part } from './run-part.ts'
import { type RunningApi, type ServeOptions, serveApi } from './serve-api.ts'
import { controllerManagerUser, dashboardUser, monitorUser, nodeUser, nodesUser, schedulerUser } from './users.ts'

/** How many nodes there are, and what runs their pods. */
export type LocalNodes = Pick<RunNodesOptions, 'nodeName' | 'nodes' | 'runtime' | 'imageCatalogue' | 'shutdown' | 'evictionHard'>

export interface EverythingOptions extends ServeOptions, LocalNodes {
  /** Settings of the monitor; the rest is as by default. */
  monitor?: MonitorFlags
  /** The port of the dashboard, or any other if that is taken; undefined: there is none. */
  dashboardPort?: number | undefined
  /** Is told what is being done until it is ready. */
  progress?(what: string): void
}

/** The API of a process that runs everything, and its dashboard. */
export interface RunningEverything extends RunningApi {
  dashboard: RunningDashboard | undefined
}

/** Kubernetes' names of parts, in `kubectl get componentstatuses`. */
const componentNames: Readonly<Record<string, string>> = { controllers: 'controller-manager', scheduler: 'scheduler' }

/**
 * Runs all parts in this process: the API server, and controllers, scheduler, nodes and monitor over transports without sockets. Resolves when a node is ready. Controllers
 * and the scheduler elect a leader only where other servers may share the store: a data directory belongs to this process alone.
 */
export async function runEverything(options: EverythingOptions): Promise<RunningEverything> {
  const { monitor: choices = {} } = options
  // A monitor of which nothing was said is loaded later, when everything else runs.
  const slos = Object.keys(choices).length > 0 ? await (await import('./run-monitor.ts')).readObjectives(choices) : []
  const catalogue = await readCatalogue(options.imageCatalogue)
  options.progress?.(`opening ${options.dataDir}`)
  const api = await serveApi(options)
  options.progress?.('starting controllers, scheduler and nodes')
  const transports: InProcessTransport[] = []
  const as = (user: UserInfo) => {
    const transport = new InProcessTransport(api.server, user)
    transports.push(transport)
    return transport
  }
  const parts = partsOf({ ...options, catalogue }, api, as)
  let stopMonitor = async () => {}
  const stop = async () => {
    await stopMonitor()
    // In turn, the last first: nodes say goodbye through the API.
    for (const { part } of parts.toReversed()) await part.stop()
    for (const transport of transports) await transport.close()
    await api.stop()
  }
  for (const { name, part } of parts) {
    const check = () => part.problems().join('; ') || undefined
    api.server.health.require({ name, check })
    if (name in componentNames) api.server.components.set(componentNames[name]!, check)
  }
  try {
    await Promise.all(parts.map(({ part }) => part.start()))
    await Promise.all(parts.map(({ part }) => part.roleKnown()))
  } catch (e) {
    await stop()
    throw e
  }
  stopMonitor = startMonitor(options, slos, api, as)
  const { dashboardPort: port } = options
  const opening = port === undefined ? Promise.resolve(undefined) : startDashboard(options, port, api, as)
  const dashboard = await opening.catch(async (e: unknown) => {
    await stop()
    throw e
  })
  return {
    ...api,
    dashboard,
    async stop() {
      await dashboard?.close()
      await stop()
    },
  }
}

/** Serves the page on a port of its own, without TLS: browsers trust the loopback interface, and not the cluster's authority. */
async function startDashboard({ logger, release }: EverythingOptions, port: number, { kubeconfig }: RunningApi, as: (user: UserInfo) => InProcessTransport): Promise<RunningDashboard> {
  const { openDashboard } = await import('../dashboard/index.ts')
  // Whoever sees the link can read the kubeconfig, and is the same user.
  const access = () => loadAccess({ file: kubeconfig })
  return openDashboard({ access, transport: as(dashboardUser), namespace: '', port, clock: systemClock, random: systemRandom, logger, release })
}

/** Nobody waits for the monitor: it is loaded and started when everything else runs. The answered function ends it. */
function startMonitor({ dataDir, logger, monitor: choices = {} }: EverythingOptions, slos: readonly Slo[], { server }: RunningApi, as: (user: UserInfo) => InProcessTransport): () => Promise<void> {
  let isStopping = false
  const failed = (error: unknown) => isStopping || logger.error('the monitor cannot be started', { error })
  const started = import('./run-monitor.ts').then(({ makeMonitor }) => {
    const monitor = makeMonitor({ choices, slos, dataDir, transport: as(monitorUser), metrics: server.metrics, logger })
    for (const [path, page] of Object.entries(monitor.pages)) server.pages.set(path, page)
    monitor.start().catch(failed)
    return monitor
  })
  started.catch(failed)
  return () => {
    isStopping = true
    return started.then((monitor) => monitor.stop(), () => {})
  }
}

function partsOf(options: EverythingOptions & Pick<NodesOptions, 'catalogue'>, { server, authority, signer, url, isShared }: RunningApi, as: (user: UserInfo) => InProcessTransport): { name: string; part: Part }[] {
  const { gates, logger, dataDir, nodeName, nodes, runtime, catalogue, shutdown, evictionHard } = options
  const { metrics } = server
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  const signing = { authority: signer, longestMs: 365 * 24 * 3_600_000 }
  const settings = { rootCa: authority, timeZone, volumesDir: path.resolve(dataDir, 'volumes'), signing }
  const privatePaths = { directories: [path.resolve(dataDir)], volumes: [settings.volumesDir] }
  const controllers = [...selectControllers(['*'], settings).values()].flat()
  const local = { nodeName, nodes, runtime, dataDir: path.join(dataDir, 'node'), privatePaths, catalogue, ...(shutdown ? { shutdown } : {}), ...(evictionHard === undefined ? {} : { evictionHard }) }
  return [
    { name: 'controllers', part: new ControllerManager({ transport: as(controllerManagerUser), controllers, metrics, gates, logger, ...electing('kube-controller-manager', isShared) }) },
    { name: 'scheduler', part: new Scheduler({ transport: as(schedulerUser), metrics, logger, ...electing('kube-scheduler', isShared) }) },
    { name: 'nodes', part: makeNodes({ ...local, transport: as(nodes === 1 ? nodeUser(nodeName) : nodesUser), authority, apiServer: new URL(url), gates, logger, metrics }) },
  ]
}

/** As Kubernetes' components have it. */
const terms = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 }

function electing(name: string, isShared: boolean): Pick<TermRunnerOptions, 'leaderElection'> {
  if (!isShared) return {}
  return { leaderElection: { namespace: 'kube-system', name, identity: leaderIdentity(hostname(), systemRandom), ...terms } }
}
