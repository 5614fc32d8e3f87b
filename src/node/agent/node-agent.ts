import path from 'node:path'
import type { Pod } from '../../api/generated/types.ts'
import type { FeatureGates } from '../../api/feature-gates.ts'
import { timestamp } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { EventRecorder } from '../../client/index.ts'
import { type Refusal, refusalOf } from '../admission/admit.ts'
import { Room } from '../admission/room.ts'
import { servedServices, withApiServerAt } from '../env/service-links.ts'
import { EvictionManager } from '../eviction/eviction-manager.ts'
import { type Threshold, defaultThresholds, parseThresholds } from '../eviction/signals.ts'
import { type Faults, noFaults } from '../faults.ts'
import { ImageAccess } from '../images/image-access.ts'
import { ImageCollector } from '../images/image-collector.ts'
import type { Machine } from '../machine/machine.ts'
import { BackOff } from '../pods/back-off.ts'
import { type PodContainer, fieldPathOf } from '../pods/containers.ts'
import { lastWordsOf } from '../pods/last-words.ts'
import type { NodeContext } from '../pods/node-context.ts'
import { type NodeDns, noDns } from '../pods/config/pod-dns.ts'
import { PodWorker } from '../pods/pod-worker.ts'
import { removeAll, stopSandboxes } from '../pods/stopping.ts'
import type { Prober } from '../probes/prober.ts'
import { podNameLabel } from '../runtime/labels.ts'
import type { PodUserSource } from '../runtime/pod-users.ts'
import { PodView } from '../runtime/pod-view.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type LogSource, PodAccess } from '../server/pod-access.ts'
import type { NodeSources } from '../sources/node-sources.ts'
import { StageTimes, Stages } from '../stages.ts'
import { StatusManager } from '../status/status-manager.ts'
import type { Disk } from '../volumes/disk.ts'
import type { PrivatePaths } from '../volumes/private-paths.ts'
import { VolumeManager } from '../volumes/volume-manager.ts'
import { Heartbeat } from './heartbeat.ts'
import type { NodeShape } from './node-object.ts'
import { shutdownNode } from './shutdown.ts'
import { isPodFinished } from '../../api/kinds/pods/pod-availability.ts'

/** The options of nodes of any runtime. */
export interface NodeSurroundings {
  /** Shared by all nodes of a process. The agent neither starts nor stops them. */
  sources: NodeSources
  clock: Clock
  random: Random
  gates: FeatureGates
  logger?: Logger
  faults?: Faults
  times?: StageTimes
  /** The eviction thresholds. Default: kubelet's for memory, and a nearly full disk. */
  thresholds?: readonly Threshold[]
  patched?(outcome: 'done' | 'failed'): void
  /** The DNS settings of pods. Default: pods resolve no names. */
  dns?: NodeDns
}

interface NodeAgentOptions extends NodeSurroundings {
  nodeName: string
  shape: NodeShape
  runtime: Runtime
  machine: Machine
  prober: Prober
  /** Reads the logs of containers. Default: from the files that the runtime names. */
  log?: LogSource
  disk: Disk
  /** The root directory of the node's volumes and logs. */
  root: string
  /** The user ids of pods. Default: pods run as the node's own user. */
  users?: PodUserSource
  /** Paths of this machine that no volume may expose. */
  privatePaths?: PrivatePaths
  /** The address of the API server for containers, if not that of its Service. */
  apiServer?: URL
  /** True if containers get environment variables for a Service at this address. Default: for all. */
  servesAddress?(ip: string): boolean
}

const crashFirstMs = 10_000
const crashLongestMs = 300_000
const relistMs = 60_000

/**
 * The agent of one node. It registers the node and runs the pods that are bound to it. A stopped agent leaves its pods
 * running, and the next one adopts them.
 */
export class NodeAgent {
  readonly name: string
  /** Serves the logs, commands, ports and figures of the node's pods. */
  readonly access: PodAccess
  readonly #options: NodeAgentOptions
  readonly #logger: Logger
  readonly #context: NodeContext
  readonly #heartbeat: Heartbeat
  readonly #events: EventRecorder
  readonly #status: StatusManager
  readonly #view: PodView
  readonly #eviction: EvictionManager
  readonly #images: ImageCollector
  readonly #room: Room
  readonly #workers = new Map<string, PodWorker>()
  /** Pods that were rejected. */
  readonly #refused = new Set<string>()
  /** Pods that wait until the node's labels and taints have been read again. */
  readonly #asking = new Set<string>()
  /** Pods that are finished and may still appear in the watch. */
  readonly #gone = new Set<string>()
  #unsubscribe = () => {}
  #cancelRelist = () => {}
  #isShuttingDown = false
  #isStopped = false

  constructor(options: NodeAgentOptions) {
    const { nodeName, sources, clock, random, runtime, shape, gates } = options
    this.name = nodeName
    this.#options = options
    this.#logger = (options.logger ?? silentLogger).child({ node: nodeName })
    const client = sources.clientOf(nodeName)
    const stages = new Stages(nodeName, clock, options.faults ?? noFaults, options.times ?? new StageTimes())
    this.#events = new EventRecorder(sources.eventClientOf(nodeName), {
      component: 'kubelet',
      host: nodeName,
      clock,
      random,
      logger: this.#logger,
    })
    this.#status = new StatusManager({
      clock,
      random,
      client,
      logger: this.#logger,
      isNodeLost: () => this.#heartbeat.isLost,
      lookAtNode: () => this.#heartbeat.look(),
      ...(options.patched ? { patched: options.patched } : {}),
    })
    const volumes = new VolumeManager(options.disk, options.root, {
      users: options.users,
      privatePaths: options.privatePaths,
      mountsMemory: runtime.hasContainers === true,
    })
    this.#view = new PodView(
      runtime,
      (uid) => this.#workers.get(uid)?.changed(),
      this.#logger,
      options.disk.keepsFiles ? (status) => lastWordsOf(status, volumes, clock) : undefined,
    )
    this.access = new PodAccess({
      runtime,
      clock,
      machine: options.machine,
      pod: (namespace, name) => this.#podNamed(namespace, name),
      state: (uid) => this.#view.state(uid),
      uids: () => this.#view.uids(),
      ...(options.log ? { log: options.log } : {}),
    })
    const hostIps = shape.addresses.filter((a) => a.type === 'InternalIP').map((a) => a.address)
    this.#room = new Room(shape.allocatable)
    const place = { hostIps, allocatable: shape.allocatable }
    this.#context = {
      nodeName,
      clock,
      runtime,
      stages,
      logger: this.#logger,
      client,
      view: this.#view,
      prober: options.prober,
      volumes,
      objects: sources.objects,
      status: this.#status,
      crashes: new BackOff(clock, crashFirstMs, crashLongestMs),
      pulls: new BackOff(clock, crashFirstMs, crashLongestMs),
      imageAccess: new ImageAccess(runtime.hasContainers ? path.join(options.root, 'image-pulls.json') : undefined),
      place: () => place,
      services: () => {
        const served = servedServices(sources.services(), options.servesAddress)
        return options.apiServer ? withApiServerAt(served, options.apiServer) : served
      },
      dns: options.dns ?? noDns,
      left: (uid) => this.#room.leave(uid),
      tellsSandbox: gates.enabled('PodReadyToStartContainersCondition'),
      event: (pod, type, reason, message, container) =>
        this.#events.event(referenceTo(pod, container), type, reason, message),
    }
    this.#heartbeat = new Heartbeat({
      nodeName,
      shape,
      runtime,
      clock,
      random,
      client,
      logger: this.#logger,
      health: () => ({
        problem: this.#isShuttingDown ? 'node is shutting down' : undefined,
        pressures: this.#eviction.pressures,
      }),
      mayBeat: () => stages.mayBeat(),
      found: () => this.#status.nodeFound(),
    })
    const machine = { look: async () => stages.shortened(await options.machine.look()) }
    const about = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeName }
    this.#images = new ImageCollector({
      runtime,
      clock,
      logger: this.#logger,
      event: (type, reason, message) => this.#events.event(about, type, reason, message),
    })
    this.#eviction = new EvictionManager({
      machine,
      clock,
      thresholds: options.thresholds ?? parseThresholds(defaultThresholds),
      logger: this.#logger,
      workers: () => this.#workers.values(),
      containers: (uid) => this.access.memoryOf(uid),
      event: (type, reason, message) => this.#events.event(about, type, reason, message),
      turned: () => void this.#heartbeat.beat(),
    })
  }

  /** Resolves once the node is ready and has adopted the pods that ran before. The sources must have been started. */
  async start(): Promise<void> {
    const { sources, clock } = this.#options
    await this.#view.start()
    await Promise.all([this.#heartbeat.start(), sources.synced()])
    if (this.#isStopped) return
    const unwatchNode = sources.nodes.subscribe(this.name, (node) => this.#heartbeat.observed(node))
    const listener = { changed: (pod: Pod) => this.#changed(pod), removed: (pod: Pod) => this.#removed(pod) }
    const unwatchPods = sources.feed.subscribe(this.name, listener)
    const unwatchFaults = this.#context.stages.watchFaults(() => this.#workers.forEach((worker) => worker.meetCrash()))
    this.#unsubscribe = () => {
      unwatchFaults()
      unwatchNode()
      unwatchPods()
    }
    this.#adoptOrEnd()
    this.#eviction.start()
    this.#images.start()
    const relist = () => {
      this.#view.relist().catch((error: unknown) => this.#logger.warn('failed to list containers', { error }))
      this.#cancelRelist = clock.after(relistMs, relist)
    }
    this.#cancelRelist = clock.after(relistMs, relist)
  }

  /** Stops the agent. Pods keep running. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#unsubscribe()
    this.#cancelRelist()
    this.#eviction.stop()
    this.#images.stop()
    for (const worker of this.#workers.values()) worker.abandon()
    this.#workers.clear()
    this.#view.stop()
    this.#heartbeat.stop()
    this.#status.stop()
    this.#events.close()
  }

  /**
   * Ends all pods because the machine shuts down, critical ones last, and reports their final statuses. Then the agent
   * stops.
   */
  async shutdown(graceSeconds: number, criticalSeconds: number): Promise<void> {
    this.#isShuttingDown = true
    await this.#heartbeat.beat()
    await shutdownNode({
      workers: [...this.#workers.values()],
      clock: this.#options.clock,
      status: this.#status,
      graceSeconds,
      criticalSeconds,
    })
    await this.stop()
  }

  /** Writes the status of the node now. */
  report(): Promise<void> {
    return this.#heartbeat.beat()
  }

  get isReady(): boolean {
    return this.#heartbeat.node !== undefined && !this.#isShuttingDown
  }

  /** The number of pods on the node. */
  get size(): number {
    return this.#workers.size
  }

  #podNamed(namespace: string, name: string): Pod | undefined {
    const pod = this.#options.sources.feed.informer.get(`${namespace}/${name}`)
    return pod?.spec.nodeName === this.name ? pod : undefined
  }

  #changed(pod: Pod): void {
    const uid = pod.metadata.uid!
    if (this.#gone.has(uid)) return
    const worker = this.#workers.get(uid)
    if (worker) return worker.update(pod)
    if (this.#asking.has(uid)) return
    if (this.#refused.has(uid) && !pod.metadata.deletionTimestamp) return this.#status.observed(pod)
    // A pod with a final phase and no containers on this node needs no worker.
    if (isPodFinished(pod) && !pod.metadata.deletionTimestamp && this.#view.state(uid).sandboxes.length === 0) return
    if (this.#isShuttingDown) return
    this.#take(pod)
  }

  /** Runs the pod if the node admits it. A pod that already runs is always admitted. */
  #take(pod: Pod, isNodeFresh = false): void {
    const uid = pod.metadata.uid!
    const { node } = this.#heartbeat
    const isPlaced = pod.metadata.deletionTimestamp !== undefined || this.#view.state(uid).sandboxes.length > 0
    const refusal =
      isPlaced || !node ? undefined : refusalOf(pod, { node, room: this.#room, pressures: this.#eviction.pressures })
    if (refusal?.goesByNode && !isNodeFresh) return this.#lookAgain(pod)
    if (refusal) return this.#refuse(pod, refusal)
    this.#room.take(pod)
    this.#workers.set(uid, new PodWorker(this.#context, pod, (over) => this.#over(over)))
  }

  /** Reads the Node again, because labels and taints may have changed, before the pod is admitted. */
  #lookAgain(pod: Pod): void {
    const { uid, namespace = '', name = '' } = pod.metadata
    this.#asking.add(uid!)
    void this.#heartbeat.look().then(() => {
      this.#asking.delete(uid!)
      const now = this.#podNamed(namespace, name)
      if (!this.#isStopped && !this.#isShuttingDown && now?.metadata.uid === uid) this.#take(now!, true)
    })
  }

  #refuse(pod: Pod, { reason, message }: Refusal): void {
    const uid = pod.metadata.uid!
    this.#refused.add(uid)
    this.#context.event(pod, 'Warning', reason, message)
    const { generation } = pod.metadata
    this.#status.set(pod, {
      ...pod.status,
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      startTime: pod.status?.startTime ?? timestamp(this.#options.clock.now()),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    })
  }

  #removed(pod: Pod): void {
    const uid = pod.metadata.uid!
    this.#gone.delete(uid)
    if (this.#refused.delete(uid)) {
      this.#status.forget(uid)
      this.#events.forget(uid)
    }
    this.#workers.get(uid)?.removed()
  }

  #over(uid: string): void {
    const { namespace = '', name = '' } = this.#workers.get(uid)?.pod.metadata ?? {}
    this.#workers.delete(uid)
    this.#room.leave(uid)
    this.#events.forget(uid)
    if (this.#podNamed(namespace, name)?.metadata.uid === uid) this.#gone.add(uid)
  }

  /** Ends containers and sandboxes of pods that the API no longer has. */
  #adoptOrEnd(): void {
    for (const uid of this.#view.uids()) {
      if (this.#workers.has(uid)) continue
      const state = this.#view.state(uid)
      this.#logger.info('stopping a pod that is not in the API', {
        uid,
        pod: state.sandboxes[0]?.labels[podNameLabel],
      })
      const end = async () => {
        await Promise.all(
          state.containers.map((c) =>
            this.#options.runtime.stopContainer(
              c.id,
              Number(c.annotations['io.kubernetes.pod.terminationGracePeriod'] ?? 30),
            ),
          ),
        )
        await stopSandboxes(this.#context, this.#view.state(uid))
        await removeAll(this.#context, this.#view.state(uid))
        await this.#context.volumes.forget(uid)
      }
      end().catch((error: unknown) => this.#logger.warn('failed to stop a pod that is not in the API', { uid, error }))
    }
  }
}

function referenceTo(pod: Pod, container: PodContainer | undefined) {
  const { name, namespace, uid, resourceVersion } = pod.metadata
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    name,
    namespace,
    uid,
    resourceVersion,
    ...(container ? { fieldPath: fieldPathOf(container) } : {}),
  }
}
