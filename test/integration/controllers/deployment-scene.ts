import type { Deployment, Pod, ReplicaSet } from '../../../src/api/generated/types.ts'
import type { GateName } from '../../../src/api/feature-gates.ts'
import { type Draft, deployments, isNotFound, pods, replicasets } from '../../../src/client/index.ts'
import { deploymentController } from '../../../src/controllers/deployment/controller.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/controller.ts'
import { Scene } from '../kit/scene.ts'

const image = (n: number) => `registry.example/app:${n}`

/** A cluster with the controllers of Deployments and ReplicaSets, in which the test is the node: no pod becomes ready or goes by itself. */
export class DeploymentScene {
  readonly scene: Scene

  private constructor(scene: Scene) {
    this.scene = scene
  }

  static async start(gates: Partial<Record<GateName, boolean>> = {}): Promise<DeploymentScene> {
    return new DeploymentScene(await Scene.start({ controllers: [deploymentController, replicaSetController], gates }))
  }

  get client() {
    return this.scene.client
  }

  /** Makes a Deployment `web` of this many pods with the first image. */
  async create(replicas: number, more: Partial<Draft<Deployment['spec']>> = {}): Promise<void> {
    await this.client.create(deployments, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image: image(1), resources: {} }] } },
        ...more,
      },
    } as Deployment)
    await this.scene.pass(1000)
  }

  async patch(body: object): Promise<void> {
    await this.client.patch(deployments, 'default', 'web', body, { type: 'strategic' })
    await this.scene.pass(1000)
  }

  /** Another image: another revision. */
  update(n: number): Promise<void> {
    return this.patch({ spec: { template: { spec: { containers: [{ name: 'main', image: image(n) }] } } } })
  }

  scale(replicas: number): Promise<void> {
    return this.patch({ spec: { replicas } })
  }

  /** Makes so many of the pods ready that are not, the first by name first; they have a node then. */
  async ready(count = Infinity, which: (pod: Pod) => boolean = () => true): Promise<void> {
    const waiting = (await this.pods()).filter((pod) => !isReady(pod) && !pod.metadata.deletionTimestamp && which(pod))
    for (const pod of waiting.slice(0, count)) await this.#setReady(pod, true).catch(unlessGone)
    await this.scene.pass(1000)
  }

  async unready(count: number): Promise<void> {
    for (const pod of (await this.pods()).filter(isReady).slice(0, count)) await this.#setReady(pod, false)
    await this.scene.pass(1000)
  }

  /** Ends pods that are to go. */
  async reap(): Promise<void> {
    for (const { metadata } of await this.pods()) {
      if (metadata.deletionTimestamp) await this.client.delete(pods, 'default', metadata.name!, { gracePeriodSeconds: 0 })
    }
    await this.scene.pass(1000)
  }

  /** Makes all ready and ends what is to go until nothing happens any more. */
  async settle(): Promise<void> {
    for (let round = 0; round < 20; round++) {
      const before = this.scene.wire.writes.length
      await this.ready()
      await this.reap()
      if (this.scene.wire.writes.length === before) return
    }
    throw new Error('it does not settle')
  }

  async #setReady(pod: Pod, isOn: boolean): Promise<void> {
    const { name } = pod.metadata
    if (!pod.spec?.nodeName) {
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { apiVersion: 'v1', kind: 'Node', name: 'n1' } }
      await this.client.subresource(pods, 'default', name!, 'binding', { method: 'POST', body })
    }
    const condition = { type: 'Ready', status: isOn ? 'True' : 'False', lastTransitionTime: new Date(this.scene.clock.now()).toISOString().replace(/\.\d+/, '') }
    await this.client.patch(pods, 'default', name!, { status: { phase: 'Running', conditions: [condition] } }, { type: 'strategic', subresource: 'status' })
  }

  async pods(): Promise<Pod[]> {
    return (await this.scene.podsOf('web')).toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  }

  deployment(): Promise<Deployment> {
    return this.client.get(deployments, 'default', 'web')
  }

  /** ReplicaSets by their revision. */
  async sets(): Promise<ReplicaSet[]> {
    const { items } = await this.client.list(replicasets, 'default', {})
    return items.toSorted((a, b) => revision(a) - revision(b))
  }

  /** `1: 4, 2: 1`: the size of each revision. */
  async sizes(): Promise<string> {
    return (await this.sets()).map((set) => `${revision(set)}: ${set.spec.replicas}`).join(', ')
  }

  /** `True ReplicaSetUpdated` */
  async condition(type: string): Promise<string> {
    const condition = (await this.deployment()).status.conditions?.find((c) => c.type === type)
    return condition ? `${condition.status} ${condition.reason}` : 'none'
  }

  async message(type: string): Promise<string | undefined> {
    return (await this.deployment()).status.conditions?.find((c) => c.type === type)?.message
  }
}

/** Controllers act while the test does: a pod may be gone by now. */
const unlessGone = (e: unknown): void => {
  if (!isNotFound(e)) throw e
}

const isReady = (pod: Pod): boolean => pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false

const revision = (set: ReplicaSet): number => Number(set.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0)
