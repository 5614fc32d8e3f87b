import { hostname } from 'node:os'
import path from 'node:path'
import type { Pod } from '../../api/generated/types.ts'
import { systemClock } from '../../base/clock.ts'
import { systemRandom } from '../../base/random.ts'
import { type TermRunnerOptions, leaderIdentity, loadAccess } from '../../client/index.ts'
import { ControllerManager, selectControllers } from '../../controllers/index.ts'
import type { RunningDashboard } from '../../dashboard/index.ts'
import type { Slo } from '../../monitor/index.ts'
import { Scheduler } from '../../scheduler/index.ts'
import type { NodeDns } from '../../node/index.ts'
import { type UserInfo, storedServiceRange } from '../../server/index.ts'
import { InProcessTransport } from './in-process-transport.ts'
import { type NodesOptions, type RunNodesOptions, makeNodes, readCatalogue } from './run-node.ts'
import type { MonitorFlags } from './run-monitor.ts'
import type { Part } from './run-part.ts'
import { type ProxyKind, openClusterDns, serviceProxyPart } from './run-services.ts'
import { type RunningApi, serveApi } from '../serving/serve-api.ts'
import { type ServeOptions, nodeDirectoryOf } from '../serving/serve-options.ts'
import { type DnsFlags, type RangePlace, defaultDns } from '../serving/service-range.ts'
import {
  controllerManagerUser,
  dashboardUser,
  dnsUser,
  monitorUser,
  nodeUser,
  nodesUser,
  schedulerUser,
  serviceProxyUser,
} from './users.ts'

/** The number of nodes, and their runtime. */
export type LocalNodes = Pick<
  RunNodesOptions,
  | 'nodeName'
  | 'nodes'
  | 'runtime'
  | 'containerRuntime'
  | 'imageCatalogue'
  | 'unknownImages'
  | 'shutdown'
  | 'evictionHard'
>

export interface EverythingOptions extends ServeOptions, LocalNodes {
  /** DNS settings. Default: cluster DNS is served. */
  dns?: DnsFlags
  /** Settings of the monitor; the others have defaults. */
  monitor?: MonitorFlags
  /** The port of the dashboard, or any other if it is taken; undefined disables the dashboard. */
  dashboardPort?: number | undefined
  /** Called with each step until everything is ready. */
  progress?(what: string): void
}

/** The API server of a process that runs everything, and its dashboard. */
export interface RunningEverything extends RunningApi {
  dashboard: RunningDashboard | undefined
  /** Returns the number of running pods on the nodes of this process. */
  runningPods(): number
}

/** Names of the parts in `kubectl get componentstatuses`. */
const componentNames: Readonly<Record<string, string>> = { controllers: 'controller-manager', scheduler: 'scheduler' }

/**
 * Runs all parts in this process: the API server, and controllers, scheduler, nodes and monitor over in-process
 * transports. Resolves when a node is ready. Controllers and scheduler elect a leader only if other servers may share
 * the store; a data directory belongs to one process.
 */
export async function runEverything(options: EverythingOptions): Promise<RunningEverything> {
  const { monitor: choices = {} } = options
  // Without flags for it, the monitor is loaded later, after everything else runs.
  const slos = Object.keys(choices).length > 0 ? await (await import('./run-monitor.ts')).readObjectives(choices) : []
  const catalogue = await readCatalogue(options.imageCatalogue)
  options.progress?.(`opening ${options.dataDir}`)
  const api = await serveApi({
    ...options,
    rangePlace: placeOf(options),
    ...(options.dns ? { clusterDomain: options.dns.domain } : {}),
  })
  options.progress?.('starting controllers, scheduler and nodes')
  const transports: InProcessTransport[] = []
  const as = (user: UserInfo) => {
    const transport = new InProcessTransport(api.server, user)
    transports.push(transport)
    return transport
  }
  const network = await networkOf(options, api, as)
  const parts = [
    ...partsOf(options, api, as),
    ...network.parts,
    nodesPart({ ...options, catalogue }, api, as, network.dns),
  ]
  let stopMonitor = async () => {}
  const stop = async () => {
    await stopMonitor()
    // Sequentially, in reverse order: nodes report their shutdown through the API.
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
    runningPods: () => runningPodsOf(options.nodeName, api),
    async stop() {
      await dashboard?.close()
      await stop()
    },
  }
}

function runningPodsOf(nodeName: string, { server }: RunningApi): number {
  const pods = server.parts.access.list<Pod>('', 'pods', '')
  return pods.filter(({ spec, status }) => spec?.nodeName === nodeName && status?.phase === 'Running').length
}

/**
 * Serves the dashboard on its own port without TLS: browsers trust the loopback interface, but not the cluster's CA.
 */
async function startDashboard(
  { logger, release }: EverythingOptions,
  port: number,
  { kubeconfig }: RunningApi,
  as: (user: UserInfo) => InProcessTransport,
): Promise<RunningDashboard> {
  const { openDashboard } = await import('../../dashboard/index.ts')
  // A user who sees the link can also read the kubeconfig.
  const access = () => loadAccess({ file: kubeconfig })
  return openDashboard({
    access,
    transport: as(dashboardUser),
    namespace: '',
    port,
    clock: systemClock,
    random: systemRandom,
    logger,
    release,
  })
}

/** Loads and starts the monitor after everything else runs. The returned function stops it. */
function startMonitor(
  { dataDir, logger, monitor: choices = {} }: EverythingOptions,
  slos: readonly Slo[],
  { server }: RunningApi,
  as: (user: UserInfo) => InProcessTransport,
): () => Promise<void> {
  let isStopping = false
  const failed = (error: unknown) => isStopping || logger.error('failed to start the monitor', { error })
  const started = import('./run-monitor.ts').then(({ makeMonitor }) => {
    const monitor = makeMonitor({ choices, slos, dataDir, transport: as(monitorUser), metrics: server.metrics, logger })
    for (const [path, page] of Object.entries(monitor.pages)) server.pages.set(path, page)
    monitor.start().catch(failed)
    return monitor
  })
  started.catch(failed)
  return () => {
    isStopping = true
    return started.then(
      (monitor) => monitor.stop(),
      () => {},
    )
  }
}

type As = (user: UserInfo) => InProcessTransport

/** The address range that Services need: loopback for process pods, routed for CRI, any for simulated. */
const placeOf = ({ runtime }: LocalNodes): RangePlace =>
  proxyOf(runtime) === 'forwarding' ? 'loopback' : proxyOf(runtime) === 'nftables' ? 'routed' : 'any'

/** Service proxies by runtime. Simulated pods cannot be reached. */
const proxies: Readonly<Record<string, ProxyKind>> = { process: 'forwarding', cri: 'nftables' }
const proxyOf = (runtime: string): ProxyKind | undefined => proxies[runtime]

/** Starts the Service proxy and DNS that the runtime needs. Simulated pods send no traffic. */
async function networkOf(
  options: EverythingOptions,
  { server, url }: RunningApi,
  as: As,
): Promise<{ parts: NamedPart[]; dns: NodeDns | undefined }> {
  const { runtime, nodeName, logger, dns: flags = defaultDns } = options
  const kind = proxyOf(runtime)
  if (!kind) return { parts: [], dns: undefined }
  const range = storedServiceRange(server.parts.access)!
  const dns = await openClusterDns({ flags, transport: as(dnsUser), range, logger })
  const proxy = serviceProxyPart({
    kind,
    dns: dns.endpoint,
    dataDir: options.dataDir,
    transport: as(serviceProxyUser),
    nodeName,
    apiServer: new URL(url),
    range,
    logger,
  })
  return {
    parts: [{ name: 'service-proxy', part: proxy }, ...(dns.part ? [{ name: 'dns', part: dns.part }] : [])],
    dns: dns.node,
  }
}

interface NamedPart {
  name: string
  part: Part
}

function nodesPart(
  options: EverythingOptions & Pick<NodesOptions, 'catalogue'>,
  { server, authority, url }: RunningApi,
  as: As,
  dns: NodeDns | undefined,
): NamedPart {
  const {
    gates,
    logger,
    dataDir,
    nodeName,
    nodes,
    runtime,
    containerRuntime,
    catalogue,
    unknownImages,
    shutdown,
    evictionHard,
  } = options
  const privatePaths = { directories: [path.resolve(dataDir)], volumes: [volumesDirOf(dataDir)] }
  const local = {
    nodeName,
    nodes,
    runtime,
    dataDir: nodeDirectoryOf(dataDir),
    privatePaths,
    catalogue,
    ...(containerRuntime ? { containerRuntime } : {}),
    ...(unknownImages ? { unknownImages } : {}),
    ...(shutdown ? { shutdown } : {}),
    ...(evictionHard === undefined ? {} : { evictionHard }),
    ...(dns ? { dns } : {}),
  }
  const transport = as(nodes === 1 ? nodeUser(nodeName) : nodesUser)
  return {
    name: 'nodes',
    part: makeNodes({
      ...local,
      transport,
      authority,
      apiServer: new URL(url),
      gates,
      logger,
      metrics: server.metrics,
    }),
  }
}

const volumesDirOf = (dataDir: string): string => path.resolve(dataDir, 'volumes')

function partsOf(
  { gates, logger, dataDir }: EverythingOptions,
  { server, authority, signer, isShared }: RunningApi,
  as: As,
): NamedPart[] {
  const { metrics } = server
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  const signing = { authority: signer, longestMs: 365 * 24 * 3_600_000 }
  const settings = { rootCa: authority, timeZone, volumesDir: volumesDirOf(dataDir), signing }
  const controllers = [...selectControllers(['*'], settings).values()].flat()
  return [
    {
      name: 'controllers',
      part: new ControllerManager({
        transport: as(controllerManagerUser),
        controllers,
        metrics,
        gates,
        logger,
        ...electing('kube-controller-manager', isShared),
      }),
    },
    {
      name: 'scheduler',
      part: new Scheduler({ transport: as(schedulerUser), metrics, logger, ...electing('kube-scheduler', isShared) }),
    },
  ]
}

/** The defaults of Kubernetes' components. */
const terms = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 }

function electing(name: string, isShared: boolean): Pick<TermRunnerOptions, 'leaderElection'> {
  if (!isShared) return {}
  return {
    leaderElection: { namespace: 'kube-system', name, identity: leaderIdentity(hostname(), systemRandom), ...terms },
  }
}
