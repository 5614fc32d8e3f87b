import { type Workload, type WorkloadObject, explain, sentenceOf } from '../../../src/api/explain/index.ts'
import type { Node, PersistentVolumeClaim, Pod } from '../../../src/api/generated/types.ts'
import { timestamp } from '../../../src/api/timestamp.ts'
import {
  type Client, type ResourceType, clonesets, daemonsets, deployments, jobs, nodes, persistentvolumeclaims, pods,
  replicasets,
  replicationcontrollers, statefulsets,
} from '../../../src/client/index.ts'
import { cloneSetController } from '../../../src/controllers/cloneset/index.ts'
import { daemonSetController } from '../../../src/controllers/daemonset/index.ts'
import { deploymentController } from '../../../src/controllers/deployment/index.ts'
import { jobController } from '../../../src/controllers/job/index.ts'
import {
  type Condition, findCondition, isPodFinished, refusalOf, revisionHashLabel,
} from '../../../src/controllers/kit/workload/index.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/index.ts'
import { replicationControllerController } from '../../../src/controllers/replicationcontroller/index.ts'
import { resourceQuotaController } from '../../../src/controllers/resource-quota/index.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/index.ts'
import { Scene } from '../kit/scene.ts'

/** The workloads of a scene, by the name that each has. */
export const kindNames = [
  'deployment', 'replicaset', 'replicationcontroller', 'statefulset', 'parallel', 'daemonset', 'cloneset', 'job',
] as const
export type KindName = (typeof kindNames)[number]

/** The kinds that have condition Progressing, and a deadline. */
export const rollingKinds: readonly KindName[] = ['deployment', 'statefulset', 'parallel', 'daemonset', 'cloneset']
export const isRolling = (name: KindName): boolean => rollingKinds.includes(name)

interface Kind {
  kind: string
  type: ResourceType<WorkloadObject>
  /** Its spec besides template and selector. */
  spec: object
  /** The first sentence of its conditions while no pod is available. */
  available: RegExp
  progressing?: RegExp
}

const type = (some: unknown) => some as ResourceType<WorkloadObject>
const deadline = { progressDeadlineSeconds: 60 }
const none = /0 of 1 replicas are available\./
const moving = /[01] of 1 replicas are at revision [\w-]+, [01] of 1 are available\./

const kinds: Record<KindName, Kind> = {
  deployment: {
    kind: 'Deployment', type: type(deployments), spec: { replicas: 1, ...deadline },
    available: /Deployment does not have minimum availability\./,
    progressing: /(?:ReplicaSet "[\w-]+" is progressing|Created new replica set "[\w-]+")\./,
  },
  replicaset: { kind: 'ReplicaSet', type: type(replicasets), spec: { replicas: 1 }, available: none },
  replicationcontroller: {
    kind: 'ReplicationController', type: type(replicationcontrollers), spec: { replicas: 1 }, available: none,
  },
  statefulset: {
    kind: 'StatefulSet', type: type(statefulsets), spec: { replicas: 1, serviceName: 'x', ...deadline },
    available: none, progressing: moving,
  },
  parallel: {
    kind: 'StatefulSet', type: type(statefulsets),
    spec: { replicas: 1, serviceName: 'x', podManagementPolicy: 'Parallel', ...deadline },
    available: none, progressing: moving,
  },
  daemonset: {
    kind: 'DaemonSet', type: type(daemonsets), spec: deadline,
    available: /0 of 1 nodes have an available pod\./,
    progressing: /[01] of 1 nodes are at revision [\w-]+, [01] are available\./,
  },
  cloneset: {
    kind: 'CloneSet', type: type(clonesets), spec: { replicas: 1, ...deadline }, available: none, progressing: moving,
  },
  job: {
    kind: 'Job', type: type(jobs), spec: {},
    available: /(?:No pod is running yet|A pod is running|The Job has no pods)\./,
  },
}

export const kindOf = (name: KindName): Kind => kinds[name]

const controllers = [
  deploymentController, replicaSetController, replicationControllerController, statefulSetController,
  daemonSetController,
  cloneSetController, jobController, resourceQuotaController,
]

/** Something that a condition says: its type and its message. */
export interface Told {
  type: string
  message: string
}

/** One workload of each kind with one pod, their controllers, and one node, on which the test says what happens. */
export class CauseScene {
  readonly scene: Scene

  private constructor(scene: Scene) {
    this.scene = scene
  }

  static async start(): Promise<CauseScene> {
    const s = new CauseScene(await Scene.start({ controllers, startMs: Date.parse('2026-01-01T00:00:00Z') }))
    await s.client.create(nodes, { metadata: { name: 'n1' } } as unknown as Node)
    // New nodes are tainted until they say that they are ready.
    await s.client.patch(nodes, '', 'n1', { spec: { taints: null } }, { type: 'merge' })
    await s.setNode('True')
    return s
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

  /** Says so of the node. */
  async setNode(status: string, more: object = {}): Promise<void> {
    const condition = { type: 'Ready', status, lastTransitionTime: this.now, ...more }
    await this.client.patch(
      nodes, '', 'n1', { status: { conditions: [condition] } }, { type: 'strategic', subresource: 'status' },
    )
  }

  /** Makes the workload of this kind, whose pods have one container of `app:1` unless `podSpec` says another. */
  async create(name: KindName, podSpec: object = {}, spec: object = {}, metadata: object = {}): Promise<void> {
    const labels = { app: name }
    const { restartPolicy, ...rest } = {
      containers: [{ name: 'main', image: 'app:1', resources: {} }], ...podSpec,
    } as Record<string, unknown>
    const policy = name === 'job' ? { restartPolicy: restartPolicy ?? 'OnFailure' } : {}
    const template = {
      metadata: { labels, ...metadata }, spec: { terminationGracePeriodSeconds: 30, ...policy, ...rest },
    }
    const selector = name === 'job' ? {} : {
      selector: name === 'replicationcontroller' ? labels : { matchLabels: labels },
    }
    const object = {
      metadata: { name, namespace: 'default' }, spec: { ...kinds[name].spec, ...selector, template, ...spec },
    }
    await this.client.create(kinds[name].type, object as unknown as WorkloadObject)
    await this.pass(100)
  }

  async change(name: KindName, spec: object): Promise<void> {
    await this.client.patch(kinds[name].type, 'default', name, { spec }, { type: 'merge' })
    await this.pass(100)
  }

  get(name: KindName): Promise<WorkloadObject> {
    return this.client.get(kinds[name].type, 'default', name)
  }

  async setImage(name: KindName, image: string): Promise<void> {
    await this.change(name, { template: { spec: { containers: [{ name: 'main', image, resources: {} }] } } })
  }

  /** The pods of a workload. */
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

  /** Puts a pod on the node. */
  async bind({ metadata: { name = '' }, spec }: Pod): Promise<void> {
    if (spec.nodeName) return
    const body = {
      apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace: 'default' }, target: { kind: 'Node', name: 'n1' },
    }
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
    const running = (all: readonly { name: string; image?: string }[] | undefined) =>
      (all ?? []).map(({ name, image = '' }) => (
        {
          name, image, imageID: '', restartCount: 0, ready: true, started: true,
          state: { running: { startedAt: this.now } },
        }
      ))
    await this.client.patch(pods, 'default', pod.metadata.name!, {
      status: {
        phase: 'Running',
        conditions: [
          'PodScheduled',
          'PodReadyToStartContainers', 'Ready', ...(pod.spec.readinessGates ?? []).map((g) => g.conditionType),
        ]
          .map((type) => ({ type, status: 'True', reason: null, message: null, lastTransitionTime: this.now })),
        containerStatuses: running(pod.spec.containers).map(
          (c) => ({ ...c, lastState: null, state: { ...c.state, waiting: null, terminated: null } }),
        ),
        initContainerStatuses: (pod.spec.initContainers ?? []).map(({ name, image = '', restartPolicy }) => ({
          name, image, imageID: '', restartCount: 0, ready: true, started: restartPolicy === 'Always', lastState: null,
          state: restartPolicy === 'Always' ? { running: {}, waiting: null } : {
            terminated: { exitCode: 0 }, waiting: null, running: null,
          },
        })),
      },
    }, { type: 'strategic', subresource: 'status' })
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

  async conditions(name: KindName): Promise<readonly Condition[]> {
    return ((await this.get(name)).status?.conditions ?? []) as readonly Condition[]
  }

  async condition(name: KindName, type: string): Promise<Condition | undefined> {
    return findCondition(await this.conditions(name), type)
  }

  /** The messages of all conditions of a workload. */
  async messages(name: KindName): Promise<string[]> {
    return (await this.conditions(name)).map(({ type, message = '' }) => `${type}: ${message}`)
  }

  /** The sentences of explain() about the objects that the server has now. */
  async explained(name: KindName, over: Partial<Workload> = {}): Promise<string[]> {
    return explain(await this.workload(name, over)).map(sentenceOf)
  }

  async workload(name: KindName, over: Partial<Workload> = {}): Promise<Workload> {
    const object = await this.get(name)
    const { updateRevision } = object.status ?? {}
    const isUpdated = (pod: Pod) => updateRevision!.endsWith(pod.metadata.labels?.[revisionHashLabel] ?? '-')
    const [claims, someNodes] = [
      await this.client.list(persistentvolumeclaims, 'default'), await this.client.list(nodes, ''),
    ]
    const { minReadySeconds = 0, lifecycle } = object.spec as { minReadySeconds?: number; lifecycle?: never }
    return {
      kind: kinds[name].kind,
      object,
      pods: await this.pods(name),
      around: {
        nowMs: this.scene.clock.now(),
        minReadySeconds,
        runsToCompletion: name === 'job',
        lifecycle,
        claimOf: (claim): PersistentVolumeClaim | undefined =>
          claims.items.find(({ metadata }) => metadata.name === claim),
        nodeOf: (node): Node | null => someNodes.items.find(({ metadata }) => metadata.name === node) ?? null,
      },
      refusal: refusalOf(object.status?.conditions as readonly Condition[] | undefined),
      ...(updateRevision ? { isUpdated } : {}),
      ...over,
    }
  }
}
