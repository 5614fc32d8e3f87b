import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { FeatureGates } from '../api/feature-gates.ts'
import { systemClock } from '../base/clock.ts'
import { type Logger, silentLogger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import { systemRandom } from '../base/random.ts'
import type { Transport } from '../client/index.ts'
import { FaultPlan, type NodeAgent, type NodeAgentOptions, NodeSources, StageTimes, followClusterPlan, type NodeDoor, parseCatalogue, processNode, serveNode, simulatedNode } from '../node/index.ts'
import { createAuthority, issueServerCertificate } from '../server/index.ts'
import { type Part, type PartOptions, type RunningPart, runPart } from './run-part.ts'

export interface RunNodesOptions extends PartOptions {
  /** Of one node; of many, `NAME-0`, `NAME-1` and so on. */
  nodeName: string
  nodes: number
  runtime: 'simulated' | 'process'
  /** Where a node that runs processes keeps them and their volumes. */
  dataDir: string
  /** A file that says what stands for images there. */
  imageCatalogue?: string
}

/** Runs nodes against an API server, which need not be there yet. */
export const runNodes = (options: RunNodesOptions): Promise<RunningPart> => runPart('node', options, (tools) => makeNodes({ ...options, ...tools, authority: tools.access.authority() }))

export interface NodesOptions extends Pick<RunNodesOptions, 'nodeName' | 'nodes' | 'runtime' | 'dataDir' | 'imageCatalogue'> {
  transport: Transport
  /** Vouches for the API server when it asks for logs and the like, in PEM; without it nobody can ask. */
  authority: string | undefined
  gates: FeatureGates
  logger?: Logger
  metrics: MetricsRegistry
}

type Common = Pick<NodeAgentOptions, 'sources' | 'clock' | 'random' | 'gates' | 'logger' | 'faults' | 'times' | 'patched'>

interface Opened {
  agents: readonly NodeAgent[]
  close(): Promise<void>
}

/** Nodes of this process, over whatever transport there is. They follow the cluster's fault plan. */
export function makeNodes(options: NodesOptions): Part {
  const { transport, nodeName, nodes, gates, logger = silentLogger, metrics } = options
  const tools = { clock: systemClock, random: systemRandom, logger }
  const sources = new NodeSources({ ...tools, transport, ...(nodes === 1 ? { nodeName } : {}) })
  const patches = metrics.counter('coxswain_node_pod_status_patches_total', 'Patches of the status of pods that were sent.')
  const outcomes = { done: patches.with({ outcome: 'done' }), failed: patches.with({ outcome: 'failed' }) }
  const plan = new FaultPlan(systemClock, systemRandom)
  const common: Common = { ...tools, sources, gates, faults: plan, times: new StageTimes(metrics), patched: (outcome) => outcomes[outcome].inc() }
  let opened: Opened | undefined
  let started: Promise<void> | undefined
  let unfollow = () => {}
  const start = async () => {
    unfollow = followClusterPlan(plan, { ...tools, transport })
    sources.start()
    opened = options.runtime === 'process' ? await openProcessNode(options, common) : simulatedNodes(options, common)
    await Promise.all(opened.agents.map((agent) => agent.start()))
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
      await Promise.all(opened?.agents.map((agent) => agent.stop()) ?? [])
      await opened?.close()
      sources.stop()
    },
  }
}

function simulatedNodes({ nodeName, nodes }: NodesOptions, common: Common): Opened {
  const name = (index: number) => (nodes === 1 ? nodeName : `${nodeName}-${index}`)
  return { agents: Array.from({ length: nodes }, (_, index) => simulatedNode({ ...common, name: name(index), index })), close: async () => {} }
}

/** This machine, with pods as its processes. They outlive the agent. */
async function openProcessNode({ nodeName, dataDir, imageCatalogue, authority }: NodesOptions, common: Common): Promise<Opened> {
  const catalogue = imageCatalogue === undefined ? [] : await parseCatalogue(await readFile(imageCatalogue, 'utf8'))
  const agents: NodeAgent[] = []
  const door = authority === undefined ? undefined : await openNodeDoor(authority, agents, common)
  try {
    const { agent, runtime } = await processNode({ ...common, name: nodeName, directory: path.resolve(dataDir), catalogue, ...(door ? { port: door.port } : {}) })
    agents.push(agent)
    return {
      agents,
      async close() {
        await door?.close()
        await runtime.close()
      },
    }
  } catch (e) {
    await door?.close()
    throw e
  }
}

/** On the loopback address, as the node's own is; with a certificate of its own. */
function openNodeDoor(authority: string, agents: readonly NodeAgent[], { clock, logger = silentLogger }: Common): Promise<NodeDoor> {
  const address = '127.0.0.1'
  const serving = issueServerCertificate(createAuthority(clock.now()), [address, 'localhost'], clock.now())
  return serveNode({ address, port: 0, serving, clientAuthority: authority, find: (namespace, pod) => agents.find((a) => a.access.has(namespace, pod))?.access, clock, logger })
}
