import { setMaxListeners } from 'node:events'
import { type Clock, systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/logger.ts'
import { MetricsRegistry } from '../base/metrics.ts'
import { systemRandom } from '../base/random.ts'
import {
  Client,
  EventRecorder,
  InformerFactory,
  type Term,
  TermRunner,
  type TermRunnerOptions,
  type Transport,
} from '../client/index.ts'
import { Caches } from './caches.ts'
import { ClusterWatch } from './cluster-watch.ts'
import { NodeSearch } from './cycle/node-search.ts'
import { SchedulerMetrics } from './metrics.ts'
import { filterPlugins, scorePlugins } from './plugins/registry.ts'
import { ApiVolumeBinder } from './plugins/volume-binding/api-volume-binder.ts'
import { PodWrites } from './pod-writes.ts'
import { Nominations } from './queue/nominations.ts'
import { SchedulingQueue } from './queue/scheduling-queue.ts'
import { type SchedulerSettings, Work } from './work.ts'

/** After a burst, events of pods are not recorded individually. */
const maxQueuedEvents = 5000

/** The scheduler while this process may act. */
class SchedulerTerm implements Term {
  readonly #factory: InformerFactory
  readonly #recorder: EventRecorder
  readonly #metrics: SchedulerMetrics
  readonly #queue: SchedulingQueue
  readonly #watch: ClusterWatch
  readonly #work: Work
  readonly #clock: Clock
  readonly #giveUp = new AbortController()
  #hasStarted = false

  constructor(settings: SchedulerSettings, transport: Transport, notOlderThan: string) {
    const { clock, random, logger, metrics, schedulerName } = settings
    const measured = metrics ? { metrics } : {}
    setMaxListeners(0, this.#giveUp.signal)
    this.#clock = clock
    const client = new Client(transport, { clock, random })
    this.#factory = new InformerFactory({
      ...settings.informers,
      ...measured,
      transport,
      clock,
      random,
      logger,
      name: 'scheduler',
    })
    this.#recorder = new EventRecorder(client, {
      component: schedulerName,
      clock,
      random,
      logger,
      maxQueued: maxQueuedEvents,
      ...measured,
    })
    this.#metrics = new SchedulerMetrics(metrics ?? new MetricsRegistry(), schedulerName, clock)
    const caches = new Caches(this.#factory, notOlderThan)
    const { cluster } = caches
    const plugins = filterPlugins(new ApiVolumeBinder(client, caches, clock))
    const nominations = new Nominations()
    this.#queue = new SchedulingQueue({
      clock,
      plugins,
      world: caches,
      onActive: () => this.#work.wake(),
      onMove: (to, why) => this.#metrics.moved(to, why),
    })
    this.#watch = new ClusterWatch(caches, this.#queue, nominations, schedulerName)
    this.#work = new Work({
      settings,
      caches,
      queue: this.#queue,
      cycle: {
        world: caches,
        filters: plugins,
        scores: scorePlugins,
        nominations,
        search: new NodeSearch(settings.percentageOfNodesToScore),
        random,
      },
      writes: new PodWrites(client, clock),
      recorder: this.#recorder,
      metrics: this.#metrics,
      signal: this.#giveUp.signal,
    })
    this.#metrics.read({
      pending: () => this.#queue.sizes,
      cached: () => ({ nodes: cluster.nodes.length, pods: cluster.podCount, assumed_pods: cluster.assumedCount }),
    })
  }

  get hasStarted(): boolean {
    return this.#hasStarted
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#factory.start()
    await this.#factory.waitForSync(signal)
    signal.throwIfAborted()
    this.#hasStarted = true
    this.#watch.start()
    this.#work.start()
  }

  problems(): string[] {
    return this.#factory.problems()
  }

  absences(): string[] {
    return this.#factory.absences()
  }

  async stop(graceMs = 3000): Promise<void> {
    const cancel = this.#clock.after(graceMs, () => this.#giveUp.abort(new Error('the scheduler is stopped')))
    this.#watch.stop()
    this.#queue.stop()
    await this.#work.stop()
    if (this.#hasStarted) {
      await this.#recorder.flush(this.#giveUp.signal).catch(() => {})
    } // events that are not written by now are dropped
    cancel()
    this.#recorder.close()
    this.#metrics.close()
    this.#factory.stop()
  }
}

export interface SchedulerOptions
  extends
    Omit<TermRunnerOptions, 'name' | 'begin'>,
    Partial<Pick<SchedulerSettings, 'schedulerName' | 'percentageOfNodesToScore' | 'parallelBinds' | 'informers'>> {}

/** Schedules pods without a node over one transport, in one process at a time. */
export class Scheduler extends TermRunner {
  constructor(options: SchedulerOptions) {
    const { leaderElection: _, ...rest } = options
    const settings: SchedulerSettings = {
      schedulerName: 'default-scheduler',
      percentageOfNodesToScore: 0,
      parallelBinds: 64,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      informers: {},
      ...rest,
    }
    super({
      ...options,
      name: 'scheduler',
      begin: (transport, notOlderThan) => new SchedulerTerm(settings, transport, notOlderThan),
    })
  }
}
