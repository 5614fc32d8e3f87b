import { systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import { systemRandom } from '../base/random.ts'
import { TermRunner, type TermRunnerOptions } from '../client/index.ts'
import type { Group } from './groups.ts'
import { MonitorTerm } from './monitor-term.ts'
import type { Page, SandboxConsumer } from './observation.ts'
import { SandboxHistograms } from './sandbox-histograms.ts'
import type { SnapshotStorage } from './snapshot/snapshots.ts'

/** The form of sandbox metrics: a series per pod, histograms by group, or both. */
type MonitorMode = 'pods' | 'histograms'

const monitorModes: readonly MonitorMode[] = ['pods', 'histograms']

/** The options of a monitor. */
export interface MonitorChoices {
  modes: readonly MonitorMode[]
  /** The groupings of histograms. */
  groupBy: readonly Group[]
  /** Additional labels and annotations of pods: `label:app`. */
  podGroups: readonly Group[]
  /** The upper bounds of histograms in seconds. */
  bounds: readonly number[]
  /** The time after scheduling at which a pod that is not ready to start containers has failed. */
  creationTimeoutMs: number
  maxGroups: number
  maxObjects: number
  /** True if the state of workloads is exported, which another exporter may do already. */
  workloadSeries: boolean
  /** True if config maps and secrets are looked up, by metadata only. Otherwise the node's reason is used. */
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

export interface MonitorOptions
  extends Omit<TermRunnerOptions, 'name' | 'begin' | 'leaderElection' | 'metrics'>, Partial<MonitorChoices> {
  /** The registry of all metrics. */
  metrics: MetricsRegistry
  /** The registry of informer metrics. Default: the same. */
  informerMetrics?: MetricsRegistry
  consumers?: readonly SandboxConsumer[]
  /**
   * The storage that keeps first readiness, counts and the data of consumers across restarts. Without it nothing is
   * kept.
   */
  storage?: SnapshotStorage
}

/** Measures how long the sandboxes of pods take to become ready, and exports the state of workloads. Read-only. */
export class Monitor extends TermRunner {
  /** Additional HTTP pages by path. */
  readonly pages: Readonly<Record<string, () => Page>>

  constructor(options: MonitorOptions) {
    const { metrics, consumers = [], storage } = options
    const { modes, groupBy, podGroups, bounds, creationTimeoutMs, maxGroups, maxObjects, workloadSeries, userObjects } =
      { ...defaultChoices, ...options }
    const clock = options.clock ?? systemClock
    const counting = {
      groupBy,
      bounds: [...new Set(bounds)].sort((a, b) => a - b),
      maxGroups,
      nowMs: () => clock.now(),
    }
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
    this.pages = Object.assign({}, ...all.map((consumer) => (consumer as SandboxConsumer).pages ?? {})) as Record<
      string,
      () => Page
    >
  }
}
