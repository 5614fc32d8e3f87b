import type { PersistentVolumeClaim, Pod } from '../api/generated/types.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { type MetricsRegistry, labelText } from '../base/metrics.ts'
import type { Random } from '../base/random.ts'
import {
  Client,
  InformerFactory,
  type KubeObject,
  type SharedInformer,
  type Term,
  type Transport,
  configmaps,
  persistentvolumeclaims,
  pods,
  secrets,
} from '../client/index.ts'
import type { Group } from './groups.ts'
import type { SandboxConsumer, SandboxObservation } from './observation.ts'
import { PodLabels } from './pod-labels.ts'
import { SandboxTracker } from './sandbox/tracker.ts'
import { type Found, type NamedObject, type UserResource, lackOf } from './sandbox/user-objects.ts'
import { podSeries } from './series/pod-series.ts'
import { registerState } from './series/state-series.ts'
import { workloadSeries } from './series/workload-series.ts'
import { followServed } from './served-kinds.ts'
import { podSlimmer, slimClaim, slimWorkload } from './slim.ts'
import { type SnapshotStorage, Snapshots } from './snapshot/snapshots.ts'

export interface MonitorSettings {
  clock: Clock
  random: Random
  logger: Logger
  metrics: MetricsRegistry
  informerMetrics: MetricsRegistry
  /** The additional labels of facts and pods. */
  podGroups: readonly Group[]
  creationTimeoutMs: number
  hasPodSeries: boolean
  hasWorkloadSeries: boolean
  /** True if the metadata of config maps and secrets is read. */
  readsUserObjects: boolean
  /** The maximum number of objects per kind with series. */
  maxObjects: number
  consumers: readonly SandboxConsumer[]
  /** Undefined if nothing is kept. */
  storage: SnapshotStorage | undefined
}

/** A running monitor: its caches, tracker, series and snapshots. */
export class MonitorTerm implements Term {
  readonly #settings: MonitorSettings
  readonly #client: Client
  readonly #factory: InformerFactory
  readonly #pods: SharedInformer<Pod>
  readonly #claims: SharedInformer<PersistentVolumeClaim>
  /** The caches that show whether an object named by a pod is missing. */
  readonly #userObjects: Map<UserResource, SharedInformer>
  readonly #tracker: SandboxTracker
  readonly #snapshots: Snapshots | undefined
  readonly #told
  readonly #undo: (() => void)[] = []
  #hasStarted = false

  constructor(settings: MonitorSettings, transport: Transport) {
    const { clock, random, logger, metrics, podGroups } = settings
    this.#settings = settings
    this.#client = new Client(transport, { clock, random })
    this.#factory = new InformerFactory({
      transport,
      clock,
      random,
      logger,
      metrics: settings.informerMetrics,
      name: 'monitor',
    })
    this.#pods = this.#factory.informer(pods, { transform: podSlimmer(podGroups) })
    this.#claims = this.#factory.informer(persistentvolumeclaims, { transform: slimClaim })
    this.#userObjects = new Map<UserResource, SharedInformer>([
      ['persistentvolumeclaims', this.#claims as unknown as SharedInformer],
    ])
    if (settings.readsUserObjects) {
      for (const type of [configmaps, secrets])
        this.#userObjects.set(type.plural as UserResource, this.#factory.metadata(type))
    }
    const labels = new PodLabels(podGroups, (key) => this.#claims.get(key))
    this.#told = metrics.counter('coxswain_monitor_observations_total', 'Number of sandbox observations, by kind.')
    this.#tracker = this.#makeTracker(labels)
    this.#snapshots = settings.storage && this.#makeSnapshots(settings.storage)
    if (settings.hasPodSeries) {
      registerState(metrics, podSeries(this.#tracker.pods, labels), settings.maxObjects, () => clock.now())
    }
    if (settings.hasWorkloadSeries) this.#followWorkloads()
    this.#tellBlindness()
  }

  get hasStarted(): boolean {
    return this.#hasStarted
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#snapshots?.restore()
    this.#factory.start()
    // A pod's labels contain the classes of its claims, so claims are cached first.
    await Promise.all([this.#pods.synced(signal), this.#claims.synced(signal)])
    // An object type that may not be read is omitted, and the node's reason is used instead.
    await Promise.all([...this.#userObjects.values()].map((cache) => cache.settled(signal)))
    const handler = {
      add: (pod: Pod, isInitial: boolean) => this.#tracker.see(pod, !isInitial),
      update: (_: Pod, pod: Pod) => this.#tracker.see(pod),
      delete: (pod: Pod, isFinal: boolean) => this.#tracker.gone(pod, isFinal),
      bookmark: () => this.#hasStarted && this.#tracker.heard(),
    }
    this.#undo.push(this.#pods.addHandler(handler))
    this.#tracker.forgetUnseen()
    for (const [resource, cache] of this.#userObjects) {
      const changed = ({ metadata: { namespace = '', name = '' } }: KubeObject) =>
        this.#tracker.seeObject(resource, `${namespace}/${name}`)
      this.#undo.push(cache.addHandler({ add: (object, isInitial) => isInitial || changed(object), delete: changed }))
    }
    this.#hasStarted = true
  }

  problems(): string[] {
    return [...this.#factory.problems(), ...(this.#snapshots?.problem ? [this.#snapshots.problem] : [])]
  }

  absences(): string[] {
    return this.#factory.absences()
  }

  async stop(): Promise<void> {
    for (const undo of this.#undo.splice(0)) undo()
    this.#tracker.stop()
    this.#factory.stop()
    await this.#snapshots?.stop()
  }

  #makeTracker(labels: PodLabels): SandboxTracker {
    const { clock, creationTimeoutMs } = this.#settings
    return new SandboxTracker({
      clock,
      timeoutMs: creationTimeoutMs,
      labelsOf: (pod) => labels.of(pod),
      lackOf: (pod) => lackOf(pod, (object) => this.#find(object)),
      isCurrent: () => this.#pods.state.kind === 'Watching',
      tell: (fact) => this.#tell(fact),
      appeared: (labels) => this.#each('appeared', (consumer) => consumer.appeared?.(labels)),
      vanished: (labels) => this.#each('vanished', (consumer) => consumer.vanished?.(labels)),
      changed: () => this.#snapshots?.changed(),
    })
  }

  #makeSnapshots(storage: SnapshotStorage): Snapshots {
    const { clock, logger, metrics, consumers } = this.#settings
    const sections = [this.#tracker.section, ...consumers.flatMap(({ section }) => section ?? [])]
    const count = metrics.counter('coxswain_monitor_snapshots_total', 'Number of snapshots of the monitor, by outcome.')
    return new Snapshots({ storage, sections, clock, logger, written: (outcome) => count.with({ outcome }).inc() })
  }

  #tell(fact: SandboxObservation): void {
    this.#told.with({ kind: fact.kind }).inc()
    this.#each(`${fact.kind} ${fact.namespace}/${fact.name}`, (consumer) => consumer.observe(fact))
  }

  #each(what: string, call: (consumer: SandboxConsumer) => void): void {
    for (const consumer of this.#settings.consumers) {
      try {
        call(consumer)
      } catch (error) {
        this.#settings.logger.error('an observation consumer failed', { error, what })
      }
    }
  }

  /** A stale cache looks like an idle cluster, so readiness must fail. */
  #tellBlindness(): void {
    const watched: [string, SharedInformer][] = [
      ['pods', this.#pods as unknown as SharedInformer],
      ...this.#userObjects,
    ]
    this.#settings.metrics.gauge(
      'coxswain_monitor_blind',
      '1 while the monitor has no current watch of a resource.',
      (gauge) => {
        for (const [resource, cache] of watched) gauge.with({ resource }).set(cache.lag.problem() === undefined ? 0 : 1)
      },
    )
  }

  /** Undefined if objects of this resource are not read. */
  #find({ resource, key }: NamedObject): Found {
    const cache = this.#userObjects.get(resource)
    if (!cache?.hasSynced) return undefined
    const found = cache.get(key)
    if (!found) return null
    const createdAtMs = Date.parse(String(found.metadata.creationTimestamp))
    return { createdAtMs: Number.isNaN(createdAtMs) ? undefined : createdAtMs }
  }

  /** Series are computed from the caches, and end with their objects. */
  #followWorkloads(): void {
    const { metrics, maxObjects, clock } = this.#settings
    const caches = new Map<string, SharedInformer>()
    for (const { type, nameLabel, families } of workloadSeries) {
      const cache = () => caches.get(type.plural)
      registerState(
        metrics,
        {
          resource: type.plural,
          size: () => cache()?.size ?? 0,
          objects: () => cache()?.list() ?? [],
          identityOf: ({ metadata: { namespace = '', name = '' } }) => labelText({ namespace, [nameLabel]: name }),
          families,
        },
        maxObjects,
        () => clock.now(),
      )
    }
    const types = workloadSeries.map(({ type }) => type)
    this.#undo.push(
      followServed(this.#client, types, clock, (type) =>
        caches.set(type.plural, this.#factory.informer(type, { transform: slimWorkload })),
      ),
    )
  }
}
