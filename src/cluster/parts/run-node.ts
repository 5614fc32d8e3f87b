import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { FeatureGates } from '../../api/feature-gates.ts'
import { systemClock } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import { systemRandom } from '../../base/random.ts'
import type { Transport } from '../../client/index.ts'
import {
  type CatalogueEntry,
  criNode,
  FaultPlan,
  type NodeAgent,
  type NodeDns,
  NodeSources,
  type NodeSurroundings,
  StageTimes,
  type UnknownImages,
  followClusterPlan,
  type NodeDoor,
  doorNameOf,
  parseCatalogue,
  parseThresholds,
  processNode,
  serveNode,
  simulatedNode,
} from '../../node/index.ts'
import { createAuthority, issueServerCertificate } from '../../server/index.ts'
import { ownDataDirectory } from '../../store/index.ts'
import { readFlagFile } from '../serving/flag-files.ts'
import { type JoinFlags, joinCluster } from '../joining/join-node.ts'
import type { NodeCertificates } from '../keys/node-certificates.ts'
import { type ContainerRuntimeFlags, type RuntimeName, chooseRuntime } from './choose-runtime.ts'
import { type Part, type PartOptions, type RunningPart, runPart } from './run-part.ts'

/** Time for pods to terminate when the nodes shut down. */
export interface ShutdownGrace {
  /** Total time. */
  seconds: number
  /** The part reserved for critical pods, after all others. */
  criticalSeconds: number
}

export interface RunNodesOptions extends PartOptions {
  /** --join: requests a certificate with a bootstrap token if there is none yet. */
  join?: JoinFlags
  /** Name of a single node; several are `NAME-0`, `NAME-1` and so on. */
  nodeName: string
  nodes: number
  runtime: RuntimeName
  /** Settings of a container runtime. */
  containerRuntime?: ContainerRuntimeFlags
  /** Directory of processes and their volumes. */
  dataDir: string
  /** A file that maps images to commands. */
  imageCatalogue?: string
  /** --unknown-images */
  unknownImages?: UnknownImages
  /** If undefined, pods keep running when their nodes stop. */
  shutdown?: ShutdownGrace
  /** Eviction thresholds in the format of kubelet's flag. */
  evictionHard?: string
}

/** Runs nodes against an API server, which may start later. */
export async function runNodes(options: RunNodesOptions): Promise<RunningPart> {
  const catalogue = await readCatalogue(options.imageCatalogue)
  const { nodes } = await chooseRuntime({ ...options, directory: options.dataDir }, options)
  const joined = options.join && (await joinCluster({ ...options, ...options.join }))
  const certificates = joined?.certificates
  const given = joined ? { ...options, kubeconfig: joined.kubeconfig } : options
  const running = await runPart('node', given, ({ access, ...tools }) => {
    const { server: apiServer } = access
    return makeNodes({
      ...options,
      ...nodes,
      ...tools,
      catalogue,
      authority: access.authority(),
      apiServer,
      certificates,
    })
  })
  return {
    ...running,
    isSmall: nodes.runtime !== 'simulated',
    stop() {
      certificates?.stop()
      return running.stop()
    },
  }
}

/** Reads an image catalogue; throws if it is invalid. */
export async function readCatalogue(file: string | undefined): Promise<CatalogueEntry[]> {
  if (file === undefined) return []
  const text = readFlagFile('--image-catalogue', file)
  return parseCatalogue(text).catch((e: unknown) => {
    throw new Error(`--image-catalogue: ${file}: ${(e as Error).message}`, { cause: e })
  })
}

export interface NodesOptions extends Pick<
  RunNodesOptions,
  'nodeName' | 'nodes' | 'runtime' | 'containerRuntime' | 'dataDir' | 'unknownImages' | 'shutdown' | 'evictionHard'
> {
  transport: Transport
  catalogue: readonly CatalogueEntry[]
  /** The certificates of a joined node. Without them the node uses a self-signed one. */
  certificates?: NodeCertificates | undefined
  /** CA for the API server's client certificate, in PEM; without it every request for logs and the like is refused. */
  authority: string | undefined
  /** URL of the API server as seen from this machine. */
  apiServer: URL
  /** Paths of a control plane on this machine that volumes of pods must not expose. */
  privatePaths?: { directories: readonly string[]; volumes: readonly string[] }
  /** DNS of the pods. Default: that of the machine. */
  dns?: NodeDns
  gates: FeatureGates
  logger?: Logger
  metrics: MetricsRegistry
}

interface Opened {
  agents: readonly NodeAgent[]
  door: NodeDoor | undefined
  close(): Promise<void>
}

/** Creates nodes of this process over any transport. They follow the cluster's fault plan. */
export function makeNodes(options: NodesOptions): Part {
  const { transport, nodeName, nodes, gates, logger = silentLogger, metrics, shutdown } = options
  const thresholds = thresholdsOf(options)
  const tools = { clock: systemClock, random: systemRandom, logger }
  const sources = new NodeSources({ ...tools, transport, ...(nodes === 1 ? { nodeName } : {}) })
  const patches = metrics.counter('coxswain_node_pod_status_patches_total', 'Number of patches of pod status.')
  const outcomes = { done: patches.with({ outcome: 'done' }), failed: patches.with({ outcome: 'failed' }) }
  const plan = new FaultPlan(systemClock, systemRandom)
  const common: NodeSurroundings = {
    ...tools,
    sources,
    gates,
    faults: plan,
    times: new StageTimes(metrics),
    patched: (outcome) => outcomes[outcome].inc(),
    ...(thresholds ? { thresholds } : {}),
    ...(options.dns ? { dns: options.dns } : {}),
  }
  let opened: Opened | undefined
  let started: Promise<void> | undefined
  let unfollow = () => {}
  const start = async () => {
    unfollow = followClusterPlan(plan, { ...tools, transport })
    sources.start()
    opened =
      options.runtime === 'simulated' ? await simulatedNodes(options, common) : await openMachine(options, common)
    await Promise.all(opened.agents.map((agent) => agent.start()))
    const { door } = opened
    if (door) options.certificates?.keep(transport, (pair) => door.renew(pair))
  }
  return {
    get role() {
      return opened?.agents.every((agent) => agent.isReady)
        ? ({ kind: 'acting' } as const)
        : ({ kind: 'unknown' } as const)
    },
    problems: () => sources.problems(),
    start() {
      started = start()
      return started
    },
    async roleKnown() {
      await started
      return this.role
    },
    async stop() {
      unfollow()
      await Promise.all(
        opened?.agents.map((agent) =>
          shutdown ? agent.shutdown(shutdown.seconds, shutdown.criticalSeconds) : agent.stop(),
        ) ?? [],
      )
      await opened?.close()
      sources.stop()
    },
  }
}

function thresholdsOf({ evictionHard }: NodesOptions) {
  try {
    return evictionHard === undefined ? undefined : parseThresholds(evictionHard)
  } catch (e) {
    throw new Error(`--eviction-hard: ${(e as Error).message}`, { cause: e })
  }
}

/** Opens one server for all simulated nodes, if any client can use it. */
async function simulatedNodes(
  { nodeName, nodes, authority, certificates }: NodesOptions,
  common: NodeSurroundings,
): Promise<Opened> {
  const name = (index: number) => (nodes === 1 ? nodeName : `${nodeName}-${index}`)
  const byDoorName = new Map<string, NodeAgent>()
  const find = (namespace: string, pod: string) => [...byDoorName.values()].find((a) => a.access.has(namespace, pod))
  const door =
    authority === undefined
      ? undefined
      : await openNodeDoor(authority, { find, node: (host) => byDoorName.get(host) }, common, certificates)
  for (let index = 0; index < nodes; index++) {
    byDoorName.set(
      doorNameOf(name(index)),
      simulatedNode({ ...common, name: name(index), index, ...(door ? { port: door.port } : {}) }),
    )
  }
  return { agents: [...byDoorName.values()], door, close: async () => door?.close() }
}

/** Opens this machine as a node, with pods as processes or containers that outlive the agent. */
async function openMachine(options: NodesOptions, common: NodeSurroundings): Promise<Opened> {
  const { nodeName, dataDir, catalogue, unknownImages, authority, apiServer, certificates, privatePaths } = options
  const release = await ownDataDirectory(dataDir)
  for (const volumes of privatePaths?.volumes ?? []) mkdirSync(volumes, { recursive: true, mode: 0o700 })
  const agents: NodeAgent[] = []
  const find = (namespace: string, pod: string) => agents.find((a) => a.access.has(namespace, pod))
  const door =
    authority === undefined
      ? undefined
      : await openNodeDoor(authority, { find, node: () => agents[0] }, common, certificates)
  try {
    const machine = {
      ...common,
      name: nodeName,
      directory: path.resolve(dataDir),
      ...(privatePaths ? { privatePaths } : {}),
      ...(door ? { port: door.port } : {}),
    }
    const { endpoint = '', ...settings } = options.containerRuntime ?? {}
    const { agent, runtime } =
      options.runtime === 'cri'
        ? await criNode({ ...machine, ...settings, endpoint })
        : await processNode({ ...machine, apiServer, catalogue, ...(unknownImages ? { unknownImages } : {}) })
    agents.push(agent)
    return {
      agents,
      door,
      async close() {
        await door?.close()
        await runtime.close()
        await release()
      },
    }
  } catch (e) {
    await door?.close()
    await release()
    throw e
  }
}

/** Finds the node to serve a request: by a pod on it, or by its name. */
interface Behind {
  find(namespace: string, pod: string): NodeAgent | undefined
  node(host: string): NodeAgent | undefined
}

/** Opens a node's server on the loopback address, with the node's certificate, or a self-signed one. */
function openNodeDoor(
  authority: string,
  { find, node }: Behind,
  { clock, logger = silentLogger }: NodeSurroundings,
  certificates?: NodeCertificates,
): Promise<NodeDoor> {
  const address = '127.0.0.1'
  const serving =
    certificates?.serving.pair ??
    issueServerCertificate(createAuthority(clock.now()), [address, 'localhost'], clock.now())
  return serveNode({
    address,
    port: 0,
    serving,
    clientAuthority: authority,
    clock,
    logger,
    find: (namespace, pod) => find(namespace, pod)?.access,
    node: (host) => node(host)?.access,
  })
}
