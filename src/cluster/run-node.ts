import type { FeatureGates } from '../api/feature-gates.ts'
import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import { systemRandom } from '../base/random.ts'
import type { Transport } from '../client/index.ts'
import { NodeSources, StageTimes, simulatedNode } from '../node/index.ts'
import { type Part, type PartOptions, type RunningPart, runPart } from './run-part.ts'

export interface RunNodesOptions extends PartOptions {
  /** Of one node; of many, `NAME-0`, `NAME-1` and so on. */
  nodeName: string
  nodes: number
}

/** Runs simulated nodes against an API server, which need not be there yet. */
export const runNodes = (options: RunNodesOptions): Promise<RunningPart> => runPart('node', options, (tools) => makeNodes({ ...options, ...tools }))

export interface NodesOptions extends Pick<RunNodesOptions, 'nodeName' | 'nodes'> {
  transport: Transport
  gates: FeatureGates
  logger?: Logger
  metrics: MetricsRegistry
}

/** Simulated nodes of this process, over whatever transport there is. */
export function makeNodes({ transport, nodeName, nodes, gates, logger, metrics }: NodesOptions): Part {
  const common = { clock: systemClock, random: systemRandom, ...(logger ? { logger } : {}) }
  const sources = new NodeSources({ ...common, transport, ...(nodes === 1 ? { nodeName } : {}) })
  const times = new StageTimes(metrics)
  const patches = metrics.counter('coxswain_node_pod_status_patches_total', 'Patches of the status of pods that were sent.')
  const outcomes = { done: patches.with({ outcome: 'done' }), failed: patches.with({ outcome: 'failed' }) }
  const agents = Array.from({ length: nodes }, (_, index) =>
    simulatedNode({ ...common, name: nodes === 1 ? nodeName : `${nodeName}-${index}`, index, sources, gates, times, patched: (outcome) => outcomes[outcome].inc() }),
  )
  let started: Promise<unknown> | undefined
  const isReady = () => agents.every((agent) => agent.isReady)
  return {
    get role() {
      return isReady() ? ({ kind: 'acting' } as const) : ({ kind: 'unknown' } as const)
    },
    problems: () => sources.problems(),
    start() {
      sources.start()
      started = Promise.all(agents.map((agent) => agent.start()))
      return started.then(() => {})
    },
    async roleKnown() {
      await started
      return this.role
    },
    async stop() {
      await Promise.all(agents.map((agent) => agent.stop()))
      sources.stop()
    },
  }
}
