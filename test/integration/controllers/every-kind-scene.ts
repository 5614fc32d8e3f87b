import type { Node, Pod } from '../../../src/api/generated/types.ts'
import { type KubeObject, timestamp } from '../../../src/api/object.ts'
import {
  type Client, type ResourceType, clonesets, controllerOf, daemonsets, deployments, jobs, nodes, pods, replicasets,
  replicationcontrollers, statefulsets,
} from '../../../src/client/index.ts'
import { cloneSetController } from '../../../src/controllers/cloneset/controller.ts'
import { daemonSetController } from '../../../src/controllers/daemonset/controller.ts'
import { deploymentController } from '../../../src/controllers/deployment/controller.ts'
import { jobController } from '../../../src/controllers/job/controller.ts'
import { ControllerManager } from '../../../src/controllers/kit/index.ts'
import { type Condition, findCondition, isPodFinished } from '../../../src/controllers/kit/workload/index.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/controller.ts'
import { replicationControllerController } from '../../../src/controllers/replicationcontroller/controller.ts'
import { resourceQuotaController } from '../../../src/controllers/resource-quota/controller.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/controller.ts'
import { Scene } from '../kit/scene.ts'
import { nodeOf } from './daemonset-scene.ts'

/** The workloads of a scene, by the name that each has. */
export const kindNames = [
  'deployment', 'replicaset', 'replicationcontroller', 'statefulset', 'parallel', 'daemonset', 'cloneset', 'job',
] as const
export type KindName = (typeof kindNames)[number]

/** The kinds that have condition Progressing, and a deadline. */
export const rollingKinds = ['deployment', 'statefulset', 'parallel', 'daemonset', 'cloneset'] as const
export const isRolling = (name: KindName): boolean => (rollingKinds as readonly KindName[]).includes(name)

/** A workload of any kind. */
export interface AnyWorkload extends KubeObject {
  spec: Record<string, unknown>
  status?: { observedGeneration?: number; updateRevision?: string; conditions?: readonly Condition[] }
}

interface Kind {
  kind: string
  type: ResourceType<AnyWorkload>
  /** Its spec besides template and selector. */
  spec: object
}

const type = (some: unknown) => some as ResourceType<AnyWorkload>

const kinds: Record<KindName, Kind> = {
  deployment: { kind: 'Deployment', type: type(deployments), spec: { replicas: 1 } },
  replicaset: { kind: 'ReplicaSet', type: type(replicasets), spec: { replicas: 1 } },
  replicationcontroller: { kind: 'ReplicationController', type: type(replicationcontrollers), spec: { replicas: 1 } },
  statefulset: { kind: 'StatefulSet', type: type(statefulsets), spec: { replicas: 1, serviceName: 'x' } },
  parallel: {
    kind: 'StatefulSet', type: type(statefulsets),
    spec: { replicas: 1, serviceName: 'x', podManagementPolicy: 'Parallel' },
  },
  daemonset: { kind: 'DaemonSet', type: type(daemonsets), spec: {} },
  cloneset: { kind: 'CloneSet', type: type(clonesets), spec: { replicas: 1 } },
  job: { kind: 'Job', type: type(jobs), spec: {} },
}

export const kindOf = (name: KindName): Kind => kinds[name]

const controllers = [
  deploymentController, replicaSetController, replicationControllerController, statefulSetController,
  daemonSetController, cloneSetController, jobController, resourceQuotaController,
]

/** Workloads of every kind, their controllers, and nodes on which the test says what happens. */
export class EveryKindScene {
  readonly scene: Scene
  #manager: ControllerManager

  protected constructor(scene: Scene) {
    this.scene = scene
    this.#manager = scene.cluster.manager!
  }

  static async begin(...names: string[]): Promise<EveryKindScene> {
    const s = new EveryKindScene(await EveryKindScene.world())
    for (const name of names) await s.addNode(name)
    return s
  }

  protected static world(): Promise<Scene> {
    return Scene.start({ controllers, startMs: Date.parse('2026-01-01T00:00:00Z') })
  }

  get client(): Client {
    return this.scene.client
  }

  get now(): string {
    return timestamp(this.scene.clock.now())
  }

  pass(ms: number): Promise<void> {
    return this.scene.pass(ms)
  }

  /** Ends the controllers, and starts others in their place after so long. */
  async restart(afterMs = 0): Promise<void> {
    const stopped = this.#manager.stop()
    await this.pass(1000)
    await stopped
    await this.pass(afterMs)
    const { cluster, clock } = this.scene
    this.#manager = new ControllerManager({ transport: cluster.transport, controllers, clock })
    await this.#manager.start()
    await this.pass(100)
  }

  /** Makes a node that is ready. */
  async addNode(name: string): Promise<void> {
    await this.client.create(nodes, { metadata: { name } } as unknown as Node)
    // New nodes are tainted until they say that they are ready.
    await this.client.patch(nodes, '', name, { spec: { taints: null } }, { type: 'merge' })
    await this.setNode('True', {}, name)
  }

  /** Says so of a node. */
  async setNode(status: string, more: object = {}, name = 'n1'): Promise<void> {
    const condition = { type: 'Ready', status, lastTransitionTime: this.now, ...more }
    const patch = { status: { conditions: [condition] } }
    await this.client.patch(nodes, '', name, patch, { type: 'strategic', subresource: 'status' })
  }

  /** Makes the workload of this kind, whose pods have one container of `app:1` unless `podSpec` says another. */
  async create(name: KindName, podSpec: object = {}, spec: object = {}, metadata: object = {}): Promise<void> {
    const labels = { app: name }
    const wanted: Record<string, unknown> = {
      containers: [{ name: 'main', image: 'app:1', resources: {} }], ...podSpec,
    }
    const { restartPolicy = 'OnFailure', ...rest } = wanted
    const template = {
      metadata: { labels, ...metadata },
      spec: { terminationGracePeriodSeconds: 30, ...(name === 'job' ? { restartPolicy } : {}), ...rest },
    }
    const selector = name === 'replicationcontroller' ? labels : { matchLabels: labels }
    const object = {
      metadata: { name, namespace: 'default' },
      spec: { ...kinds[name].spec, ...(name === 'job' ? {} : { selector }), template, ...spec },
    }
    await this.client.create(kinds[name].type, object as unknown as AnyWorkload)
    await this.pass(100)
  }

  async change(name: KindName, spec: object): Promise<void> {
    await this.client.patch(kinds[name].type, 'default', name, { spec }, { type: 'merge' })
    await this.pass(100)
  }

  async setImage(name: KindName, image: string): Promise<void> {
    await this.change(name, { template: { spec: { containers: [{ name: 'main', image, resources: {} }] } } })
  }

  get(name: KindName): Promise<AnyWorkload> {
    return this.client.get(kinds[name].type, 'default', name)
  }

  pods(name: KindName): Promise<Pod[]> {
    return this.scene.podsOf(name)
  }

  /** A pod of a workload that is not going; one that has not ended, if there is any. */
  async pod(name: KindName): Promise<Pod> {
    const all = await this.pods(name)
    const here = all.filter(({ metadata }) => !metadata.deletionTimestamp)
    const pod = here.find((p) => !isPodFinished(p)) ?? here[0]
    if (!pod) throw new Error(`${name} has no pod but ${JSON.stringify(all.map((p) => p.metadata.name))}`)
    return pod
  }

  /** Puts a pod on its node: that of a DaemonSet on the one that it was made for. */
  async bind({ metadata: { name = '' } }: Pod): Promise<void> {
    const pod = await this.client.get(pods, 'default', name)
    if (pod.spec.nodeName) return
    const node = controllerOf(pod)?.kind === 'DaemonSet' ? nodeOf(pod) : 'n1'
    const target = { kind: 'Node', name: node }
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace: 'default' }, target }
    await this.client.transport.send({ method: 'POST', path: `/api/v1/namespaces/default/pods/${name}/binding`, body })
  }

  /** Reports a pod as it is. */
  async report({ metadata: { name = '' } }: Pod, status: object): Promise<void> {
    await this.client.patch(pods, 'default', name, { status }, { type: 'strategic', subresource: 'status' })
  }

  async changePod({ metadata: { name = '' } }: Pod, patch: object): Promise<void> {
    await this.client.patch(pods, 'default', name, patch, { type: 'merge' })
  }

  /** Has a pod run and be ready. */
  async ready(pod: Pod): Promise<void> {
    await this.bind(pod)
    const told = [
      'PodScheduled',
      'PodReadyToStartContainers', 'Ready', ...(pod.spec.readinessGates ?? []).map((g) => g.conditionType),
    ]
    const base = { imageID: '', restartCount: 0, ready: true, lastState: null }
    const running = { running: { startedAt: this.now }, waiting: null, terminated: null }
    const over = { terminated: { exitCode: 0 }, waiting: null, running: null }
    await this.report(pod, {
      phase: 'Running',
      conditions: told.map(
        (type) => ({ type, status: 'True', reason: null, message: null, lastTransitionTime: this.now }),
      ),
      containerStatuses: pod.spec.containers.map(
        ({ name, image = '' }) => ({ ...base, name, image, started: true, state: running }),
      ),
      initContainerStatuses: (pod.spec.initContainers ?? []).map(({ name, image = '', restartPolicy }) => {
        const isSidecar = restartPolicy === 'Always'
        return { ...base, name, image, started: isSidecar, state: isSidecar ? running : over }
      }),
    })
  }

  /** Has a pod run and not be ready. */
  async unready(pod: Pod): Promise<void> {
    await this.bind(pod)
    const { name, image = '' } = pod.spec.containers[0]!
    await this.report(pod, {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: this.now }],
      containerStatuses: [
        { name, image, imageID: '', restartCount: 0, ready: false, started: true, state: { running: {} } },
      ],
    })
  }

  /** Deletes pods for good that are going. */
  async reap(name: KindName): Promise<void> {
    for (const { metadata } of await this.pods(name)) {
      if (metadata.deletionTimestamp) await this.client.delete(
        pods, 'default', metadata.name!, { gracePeriodSeconds: 0 },
      )
    }
    await this.pass(100)
  }

  /** Lets every pod come up, and those that go be gone, until nothing changes. */
  async settle(name: KindName): Promise<void> {
    for (let round = 0; round < 20; round++) {
      const all = await this.pods(name)
      const late = all.filter((pod) => !pod.metadata.deletionTimestamp && !isPodFinished(pod) && !isReady(pod))
      if (late.length === 0 && !all.some((pod) => pod.metadata.deletionTimestamp)) return
      for (const pod of late) await this.ready(pod)
      await this.reap(name)
    }
    throw new Error(`${name} does not settle`)
  }

  async conditions(name: KindName): Promise<readonly Condition[]> {
    return (await this.get(name)).status?.conditions ?? []
  }

  async condition(name: KindName, type = 'Progressing'): Promise<Condition | undefined> {
    return findCondition(await this.conditions(name), type)
  }

  /** `True NewRevisionAvailable`. */
  async says(name: KindName, type = 'Progressing'): Promise<string> {
    const condition = await this.condition(name, type)
    return condition ? `${condition.status} ${condition.reason}` : 'nothing'
  }

  /** The messages of all conditions of a workload. */
  async messages(name: KindName): Promise<string[]> {
    return (await this.conditions(name)).map(({ type, message = '' }) => `${type}: ${message}`)
  }
}

export const isReady = ({ status }: Pod): boolean =>
  status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false
