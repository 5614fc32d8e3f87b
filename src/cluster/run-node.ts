import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { FeatureGates } from '../api/feature-gates.ts'
import { systemClock } from '../base/clock.ts'
import { type Logger, silentLogger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import { systemRandom } from '../base/random.ts'
import type { Transport } from '../client/index.ts'
import { type CatalogueEntry, FaultPlan, type NodeAgent, NodeSources, type NodeSurroundings, StageTimes, followClusterPlan, type NodeDoor, doorNameOf, parseCatalogue, parseThresholds, processNode, serveNode, simulatedNode } from '../node/index.ts'
import { createAuthority, issueServerCertificate } from '../server/index.ts'
import { ownDataDirectory } from '../store/index.ts'
import { readFlagFile } from './flag-files.ts'
import { type JoinFlags, joinCluster } from './join-node.ts'
import type { NodeCertificates } from './node-certificates.ts'
import { type Part, type PartOptions, type RunningPart, runPart } from './run-part.ts'

/** How long pods have to end when the nodes are told to stop. */
export interface ShutdownGrace {
  /** In all. */
  seconds: number
  /** The part of it that critical pods have, after all others. */
  criticalSeconds: number
}

export interface RunNodesOptions extends PartOptions {
  /** --join: gets a certificate with a bootstrap token, where it has none yet. */
  join?: JoinFlags
  /** Of one node; of many, `NAME-0`, `NAME-1` and so on. */
  nodeName: string
  nodes: number
  runtime: 'simulated' | 'process'
  /** Where a node that runs processes keeps them and their volumes. */
  dataDir: string
  /** A file that says what stands for images there. */
  imageCatalogue?: string
  /** Absent: pods go on when their nodes are told to stop. */
  shutdown?: ShutdownGrace
  /** When pods are evicted, as kubelet's flag says it. */
  evictionHard?: string
}

/** Runs nodes against an API server, which need not be there yet. */
export async function runNodes(options: RunNodesOptions): Promise<RunningPart> {
  const catalogue = await readCatalogue(options.imageCatalogue)
  const joined = options.join && (await joinCluster({ ...options, ...options.join }))
  const certificates = joined?.certificates
  const given = joined ? { ...options, kubeconfig: joined.kubeconfig } : options
  const running = await runPart('node', given, ({ access, ...tools }) => {
    const { server: apiServer } = access
    return makeNodes({ ...options, ...tools, catalogue, authority: access.authority(), apiServer, certificates })
  })
  return {
    ...running,
    stop() {
      certificates?.stop()
      return running.stop()
    },
  }
}

/** What a file of the command line says that stands for images. Throws what is wrong with it. */
export async function readCatalogue(file: string | undefined): Promise<CatalogueEntry[]> {
  if (file === undefined) return []
  const text = readFlagFile('--image-catalogue', file)
  return parseCatalogue(text).catch((e: unknown) => {
    throw new Error(`--image-catalogue: ${file}: ${(e as Error).message}`, { cause: e })
  })
}

export interface NodesOptions extends Pick<RunNodesOptions, 'nodeName' | 'nodes' | 'runtime' | 'dataDir' | 'shutdown' | 'evictionHard'> {
  transport: Transport
  catalogue: readonly CatalogueEntry[]
  /** Of a node that has joined. Without them the node shows a certificate of its own. */
  certificates?: NodeCertificates | undefined
  /** Vouches for the API server when it asks for logs and the like, in PEM; without it nobody can ask. */
  authority: string | undefined
  /** Where the API server is reached from this machine. */
  apiServer: URL
  /** Paths of the control plane, where it runs on this machine, that no volume of a pod may show. */
  privatePaths?: { directories: readonly string[]; volumes: readonly string[] }
  gates: FeatureGates
  logger?: Logger
  metrics: MetricsRegistry
}

interface Opened {
  agents: readonly NodeAgent[]
  door: NodeDoor | undefined
  close(): Promise<void>
}

/** Nodes of this process, over whatever transport there is. They follow the cluster's fault plan. */
export function makeNodes(options: NodesOptions): Part {
  const { transport, nodeName, nodes, gates, logger = silentLogger, metrics, shutdown } = options
  const thresholds = thresholdsOf(options)
  const tools = { clock: systemClock, random: systemRandom, logger }
  const sources = new NodeSources({ ...tools, transport, ...(nodes === 1 ? { nodeName } : {}) })
  const patches = metrics.counter('coxswain_node_pod_status_patches_total', 'Patches of the status of pods that were sent.')
  const outcomes = { done: patches.with({ outcome: 'done' }), failed: patches.with({ outcome: 'failed' }) }
  const plan = new FaultPlan(systemClock, systemRandom)
  const common: NodeSurroundings = { ...tools, sources, gates, faults: plan, times: new StageTimes(metrics), patched: (outcome) => outcomes[outcome].inc(), ...(thresholds ? { thresholds } : {}) }
  let opened: Opened | undefined
  let started: Promise<void> | undefined
  let unfollow = () => {}
  const start = async () => {
    unfollow = followClusterPlan(plan, { ...tools, transport })
    sources.start()
    opened = options.runtime === 'process' ? await openProcessNode(options, common) : await simulatedNodes(options, common)
    await Promise.all(opened.agents.map((agent) => agent.start()))
    const { door } = opened
    if (door) options.certificates?.keep(transport, (pair) => door.renew(pair))
  }
  return {
    get role() {
      return opened?.agents.every((agent) => agent.isReady) ? ({ kind: 'acting' } as const) : ({ kind: 'unknown' } as const)
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
      await Promise.all(opened?.agents.map((agent) => (shutdown ? agent.shutdown(shutdown.seconds, shutdown.criticalSeconds) : agent.stop())) ?? [])
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

/** All of them behind one door, if there is anybody to come in. */
async function simulatedNodes({ nodeName, nodes, authority, certificates }: NodesOptions, common: NodeSurroundings): Promise<Opened> {
  const name = (index: number) => (nodes === 1 ? nodeName : `${nodeName}-${index}`)
  const byDoorName = new Map<string, NodeAgent>()
  const find = (namespace: string, pod: string) => [...byDoorName.values()].find((a) => a.access.has(namespace, pod))
  const door = authority === undefined ? undefined : await openNodeDoor(authority, { find, node: (host) => byDoorName.get(host) }, common, certificates)
  for (let index = 0; index < nodes; index++) {
    byDoorName.set(doorNameOf(name(index)), simulatedNode({ ...common, name: name(index), index, ...(door ? { port: door.port } : {}) }))
  }
  return { agents: [...byDoorName.values()], door, close: async () => door?.close() }
}

/** This machine, with pods as its processes. They outlive the agent. */
async function openProcessNode({ nodeName, dataDir, catalogue, authority, apiServer, certificates, privatePaths }: NodesOptions, common: NodeSurroundings): Promise<Opened> {
  const release = await ownDataDirectory(dataDir)
  for (const volumes of privatePaths?.volumes ?? []) mkdirSync(volumes, { recursive: true, mode: 0o700 })
  const agents: NodeAgent[] = []
  const find = (namespace: string, pod: string) => agents.find((a) => a.access.has(namespace, pod))
  const door = authority === undefined ? undefined : await openNodeDoor(authority, { find, node: () => agents[0] }, common, certificates)
  try {
    const { agent, runtime } = await processNode({ ...common, name: nodeName, apiServer, directory: path.resolve(dataDir), catalogue, ...(privatePaths ? { privatePaths } : {}), ...(door ? { port: door.port } : {}) })
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

/** Who is behind a door: by a pod that it has, or by its own name. */
interface Behind {
  find(namespace: string, pod: string): NodeAgent | undefined
  node(host: string): NodeAgent | undefined
}

/** On the loopback address, as the node's own is; with a certificate of its own. */
function openNodeDoor(
  authority: string,
  { find, node }: Behind,
  { clock, logger = silentLogger }: NodeSurroundings,
  certificates?: NodeCertificates,
): Promise<NodeDoor> {
  const address = '127.0.0.1'
  const serving = certificates?.serving.pair ?? issueServerCertificate(createAuthority(clock.now()), [address, 'localhost'], clock.now())
  return serveNode({
    address, port: 0, serving, clientAuthority: authority, clock, logger,
    find: (namespace, pod) => find(namespace, pod)?.access,
    node: (host) => node(host)?.access,
  })
}
