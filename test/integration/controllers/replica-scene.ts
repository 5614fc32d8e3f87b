import type { GateName } from '../../../src/api/feature-gates.ts'
import type { Pod, ReplicaSet } from '../../../src/api/generated/types.ts'
import { type ResourceType, controllerOf, pods, replicasets, replicationcontrollers } from '../../../src/client/index.ts'
import { findCondition } from '../../../src/controllers/kit/workload/index.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/controller.ts'
import { replicationControllerController } from '../../../src/controllers/replicationcontroller/controller.ts'
import { Scene } from '../kit/scene.ts'
import { Kubelet } from './kubelet.ts'

/** The differences between ReplicaSets and ReplicationControllers. */
export interface ReplicaKind {
  kind: string
  type: ResourceType<ReplicaSet>
  selector(labels: Record<string, string>): object
  /** The name of its controller. */
  controller: string
}

export const replicaKinds: ReplicaKind[] = [
  { kind: 'ReplicaSet', type: replicasets, selector: (matchLabels) => ({ matchLabels }), controller: 'replicaset' },
  {
    kind: 'ReplicationController',
    type: replicationcontrollers as unknown as ResourceType<ReplicaSet>,
    selector: (labels) => labels,
    controller: 'replication',
  },
]

/** Owners of one kind, their controller, and the nodes. */
export class ReplicaScene {
  readonly scene: Scene
  readonly row: ReplicaKind
  readonly kubelet: Kubelet

  private constructor(scene: Scene, row: ReplicaKind) {
    this.scene = scene
    this.row = row
    this.kubelet = new Kubelet(scene.client, scene.clock)
  }

  static async of(row: ReplicaKind, gates: Partial<Record<GateName, boolean>> = {}): Promise<ReplicaScene> {
    return new ReplicaScene(await Scene.start({ controllers: [replicaSetController, replicationControllerController], gates }), row)
  }

  async create(replicas: number, spec: object = {}, name = 'web'): Promise<void> {
    const labels = { app: name }
    const template = { metadata: { labels }, spec: podSpec }
    const object = { metadata: { name, namespace: 'default' }, spec: { replicas, selector: this.row.selector(labels), template, ...spec } }
    await this.client.create(this.row.type, object as unknown as ReplicaSet)
    await this.scene.pass(1000)
  }

  async scale(replicas: number): Promise<void> {
    await this.client.patch(this.row.type, 'default', 'web', { spec: { replicas } }, { type: 'merge' })
    await this.scene.pass(1000)
  }

  async lonePod(name: string, labels: Record<string, string> = { app: 'web' }): Promise<void> {
    await this.client.create(pods, { metadata: { name, namespace: 'default', labels }, spec: podSpec })
    await this.scene.pass(100)
  }

  owner(name = 'web'): Promise<ReplicaSet> {
    return this.client.get(this.row.type, 'default', name)
  }

  /** The counts of the status: replicas, ready, available. */
  async counts(): Promise<[number, number, number]> {
    const { replicas, readyReplicas = 0, availableReplicas = 0 } = (await this.owner()).status
    return [replicas, readyReplicas, availableReplicas]
  }

  async condition(type: string) {
    return findCondition((await this.owner()).status.conditions, type)
  }

  /** Pods that an owner manages. */
  async own(name = 'web'): Promise<Pod[]> {
    const { uid } = (await this.owner(name)).metadata
    return (await this.client.list(pods, 'default')).items.filter((p) => controllerOf(p)?.uid === uid)
  }

  get client() {
    return this.scene.client
  }

  get writes(): number {
    return this.scene.wire.writes.length
  }
}

export const podSpec = { containers: [{ name: 'main', image: 'registry.example/app:1', resources: {} }] }
