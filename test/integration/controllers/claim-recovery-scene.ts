import { onTestFinished } from 'vitest'
import { FeatureGates } from '../../../src/api/feature-gates.ts'
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../../src/api/generated/types.ts'
import { claimRecovery, claimRecoveryAfter } from '../../../src/api/kinds/workloads/claim-recovery.ts'
import { type ApiRequest, type KubeObject, type ResourceType, TransportError, isNotFound, persistentvolumeclaims, pods, statefulsets } from '../../../src/client/index.ts'
import { SeededRandom, VirtualClock } from '../../../src/cluster/testing.ts'
import { claimRecoveryController, forsakenPodController } from '../../../src/controllers/claim-recovery/controller.ts'
import { type Condition, findCondition } from '../../../src/controllers/kit/workload/index.ts'
import { nodeLifecycle } from '../../../src/controllers/node-lifecycle/controller.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/controller.ts'
import { FaultPlan, type FaultRule, type NodeAgent, NodeSources, SimulatedRuntime, simulatedNode } from '../../../src/node/index.ts'
import { Scheduler } from '../../../src/scheduler/index.ts'
import { type Store, openMemoryStore } from '../../../src/store/index.ts'
import { Scene } from '../kit/scene.ts'
import { NodeLink } from '../node/scene.ts'
import { claimControllers } from './claim-scene.ts'

const others = [statefulSetController, nodeLifecycle, ...claimControllers]

const startControllers = (clock: VirtualClock, store: Store, isOn = true): Promise<Scene> =>
  Scene.start({ controllers: isOn ? [claimRecoveryController, forsakenPodController, ...others] : others, clock, store })

/** A node that hears nothing, and that nobody hears of, but for what its volumes need. */
class MutableLink extends NodeLink {
  isMute = false

  override async send<T>(request: ApiRequest): Promise<T> {
    if (this.isMute && request.path.endsWith('/status')) throw new TransportError('connection reset', true)
    return super.send(request)
  }
}

/** A StatefulSet with claims, all who have to do with it, a scheduler, and a node on which things go wrong. */
export class ClaimRecoveryScene {
  readonly clock: VirtualClock
  readonly #store: Store
  readonly #random = new SeededRandom(7)
  readonly #faults: FaultPlan
  #scene: Scene
  /** The link that the node's requests pass. */
  link!: MutableLink
  #runtime: SimulatedRuntime | undefined
  agent!: NodeAgent
  #end: () => Promise<void> = async () => {}

  private constructor(clock: VirtualClock, store: Store, scene: Scene) {
    this.clock = clock
    this.#store = store
    this.#scene = scene
    this.#faults = new FaultPlan(clock, this.#random)
  }

  static async start(): Promise<ClaimRecoveryScene> {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
    const store = openMemoryStore({ clock })
    const scene = new ClaimRecoveryScene(clock, store, await startControllers(clock, store))
    await scene.#startRest()
    onTestFinished(() => scene.#end())
    return scene
  }

  /**
   * Ends everything but the node's runtime and its faults, and starts it again over what is stored; without the
   * controller where it is to be off. A node that `forgets` starts with another runtime, which remembers nothing.
   */
  async restart({ isOn = true, forgets = false } = {}): Promise<void> {
    await this.#end()
    if (forgets) this.#runtime = undefined
    await this.#scene.stop()
    this.#scene = await startControllers(this.clock, this.#store, isOn)
    await this.#startRest()
    await this.pass(1000)
  }

  async #startRest(): Promise<void> {
    const { clock } = this
    const random = this.#random
    const { transport } = this.#scene.cluster
    this.link = new MutableLink(transport, clock)
    const scheduler = new Scheduler({ transport, clock, random })
    const sources = new NodeSources({ transport: this.link, clock, random, nodeName: 'n1' })
    sources.start()
    this.#runtime ??= new SimulatedRuntime({ clock, random, podSubnet: '10.244.1' })
    this.agent = simulatedNode({ name: 'n1', index: 1, sources, clock, random, gates: FeatureGates.of(), faults: this.#faults, runtime: this.#runtime })
    this.#end = async () => {
      this.#end = async () => {}
      const stopped = Promise.all([this.agent.stop(), scheduler.stop()])
      await this.pass(10_000)
      await stopped
      sources.stop()
    }
    const started = Promise.all([scheduler.start(), this.agent.start()])
    await this.pass(1000)
    await started
  }

  /** Sets the present faults. */
  breaks(...rules: FaultRule[]): void {
    this.#faults.replace(rules)
  }

  /** `after` is how long a pod has. */
  async create(replicas: number, { after = '5m', policy = 'Parallel', annotations = {}, podSpec = {}, podAnnotations = {}, claimAnnotations = {} } = {}): Promise<void> {
    const labels = { app: 'web' }
    const claim = { metadata: { name: 'data', annotations: claimAnnotations }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
    const container = { name: 'main', image: 'app:1', volumeMounts: [{ name: 'data', mountPath: '/data' }], readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 } }
    const template = { metadata: { labels, annotations: podAnnotations }, spec: { containers: [container], ...podSpec } }
    const spec = { replicas, podManagementPolicy: policy, serviceName: 'web', selector: { matchLabels: labels }, template, volumeClaimTemplates: [claim] }
    const asked = { [claimRecovery]: 'recreate', [claimRecoveryAfter]: after, ...annotations }
    await this.client.create(statefulsets, { metadata: { name: 'web', namespace: 'default', annotations: asked }, spec } as unknown as StatefulSet)
    await this.pass(1000)
  }

  /** A pod of nobody's that mounts the claim of a place. */
  async createUser(name: string, ordinal: number): Promise<void> {
    const volumes = [{ name: 'borrowed', persistentVolumeClaim: { claimName: `data-web-${ordinal}` } }]
    await this.client.create(pods, { metadata: { name, namespace: 'default' }, spec: { containers: [{ name: 'main', image: 'app:1' }], volumes } })
    await this.pass(5000)
  }

  async annotate(annotations: Record<string, string | null>): Promise<void> {
    await this.client.patch(statefulsets, 'default', 'web', { metadata: { annotations } }, { type: 'merge' })
    await this.pass(1000)
  }

  get client() {
    return this.#scene.client
  }

  get wire() {
    return this.#scene.wire
  }

  pass(ms: number): Promise<void> {
    return this.#scene.pass(ms)
  }

  get(): Promise<StatefulSet> {
    return this.client.get(statefulsets, 'default', 'web')
  }

  pod(ordinal: number): Promise<Pod | undefined> {
    return this.#find(pods, `web-${ordinal}`)
  }

  claim(ordinal: number): Promise<PersistentVolumeClaim | undefined> {
    return this.#find(persistentvolumeclaims, `data-web-${ordinal}`)
  }

  /** The uids of pod and claim, to tell new ones from old. */
  async uids(ordinal: number): Promise<{ pod: string | undefined; claim: string | undefined }> {
    return { pod: (await this.pod(ordinal))?.metadata.uid, claim: (await this.claim(ordinal))?.metadata.uid }
  }

  async #find<T extends KubeObject>(type: ResourceType<T>, name: string): Promise<T | undefined> {
    return this.client.get(type, 'default', name).catch((e: unknown) => {
      if (isNotFound(e)) return undefined
      throw e
    })
  }

  async isReady(ordinal: number): Promise<boolean> {
    return findCondition((await this.pod(ordinal))?.status.conditions, 'Ready')?.status === 'True'
  }

  async condition(): Promise<Condition | undefined> {
    return findCondition((await this.get()).status.conditions, 'ClaimRecovery')
  }

  /** `True RecreatingClaim`. */
  async says(): Promise<string> {
    const condition = await this.condition()
    return condition ? `${condition.status} ${condition.reason}` : 'nothing'
  }

  /** The events of the claim recovery controller about an object. */
  async told(name: string): Promise<string[]> {
    const reasons = /RecreatingClaim|RecreatingPod|ClaimKept|ClaimRecreated|PodRecreated|PodDeleted|InvalidAnnotation|NotNeeded|NotAskedFor|BackingOff|LimitReached|WouldRecreate/
    return (await this.#scene.events(name)).filter((line) => reasons.test(line))
  }
}
