import { systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import { systemRandom } from '../base/random.ts'
import { TermRunner, type TermRunnerOptions } from '../client/index.ts'
import type { Group } from './groups.ts'
import { MonitorTerm } from './monitor-term.ts'
import type { Page, SandboxConsumer } from './observation.ts'
import { SandboxHistograms } from './sandbox-histograms.ts'
import type { SnapshotStorage } from './snapshot/snapshot-file.ts'

/** How sandboxes are told of: a series for every pod, histograms by groups of pods, or both. */
export type MonitorMode = 'pods' | 'histograms'

export const monitorModes: readonly MonitorMode[] = ['pods', 'histograms']

/** What may be chosen about a monitor. */
export interface MonitorChoices {
  modes: readonly MonitorMode[]
  /** What histograms are told apart by. */
  groupBy: readonly Group[]
  /** Labels and annotations of pods that are told with them besides: `label:app`. */
  podGroups: readonly Group[]
  /** Upper bounds of histograms in seconds. */
  bounds: readonly number[]
  /** A pod that is not ready to start containers so long after it was scheduled has failed. */
  creationTimeoutMs: number
  maxGroups: number
  maxObjects: number
  /** True if the state of workloads is told; another exporter may do that already. */
  workloadSeries: boolean
  /** True if config maps and secrets are looked up, by their metadata alone. Otherwise the node's reason decides. */
  userObjects: boolean
}

export const defaultChoices: MonitorChoices = {
  modes: monitorModes,
  groupBy: ['namespace', 'runtimeClass', 'storageClasses'],
  podGroups: [],
  bounds: [0.5, 1, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600],
  creationTimeoutMs: 5 * 60_000,
  maxGroups: 1000,
  maxObjects: 100_000,
  workloadSeries: true,
  userObjects: true,
}

export interface MonitorOptions extends Omit<TermRunnerOptions, 'name' | 'begin' | 'leaderElection' | 'metrics'>, Partial<MonitorChoices> {
  /** Where everything is told. */
  metrics: MetricsRegistry
  /** Where informers are told of; by default with everything else. */
  informerMetrics?: MetricsRegistry
  consumers?: readonly SandboxConsumer[]
  /** Where first readiness, counts and what consumers keep outlive the process. Without it nothing does. */
  storage?: SnapshotStorage
}

/** Watches how long pods' sandboxes take to be ready, and tells the state of workloads. It only reads. */
export class Monitor extends TermRunner {
  /** What is served beside the metrics, by path. */
  readonly pages: Readonly<Record<string, () => Page>>

  constructor(options: MonitorOptions) {
    const { metrics, consumers = [], storage } = options
    const { modes, groupBy, podGroups, bounds, creationTimeoutMs, maxGroups, maxObjects, workloadSeries, userObjects } = { ...defaultChoices, ...options }
    const clock = options.clock ?? systemClock
    const counting = { groupBy, bounds: [...new Set(bounds)].sort((a, b) => a - b), maxGroups, nowMs: () => clock.now() }
    const histograms = modes.includes('histograms') ? [new SandboxHistograms(counting, metrics)] : []
    const all = [...histograms, ...consumers]
    const settings = {
      clock,
      random: options.random ?? systemRandom,
      logger: options.logger ?? silentLogger,
      metrics,
      informerMetrics: options.informerMetrics ?? metrics,
      podGroups: [...new Set([...groupBy, ...podGroups])],
      creationTimeoutMs,
      hasPodSeries: modes.includes('pods'),
      hasWorkloadSeries: workloadSeries,
      readsUserObjects: userObjects,
      maxObjects,
      consumers: all,
      storage,
    }
    super({ ...options, name: 'monitor', begin: (transport) => new MonitorTerm(settings, transport) })
    this.pages = Object.assign({}, ...all.map((consumer) => (consumer as SandboxConsumer).pages ?? {})) as Record<string, () => Page>
  }
}
