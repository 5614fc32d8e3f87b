import type { Node, Pod, Toleration } from '../../../src/api/generated/types.ts'
import type { Draft } from '../../../src/client/index.ts'
import { leases, nodes, pods } from '../../../src/client/index.ts'
import { nodeLifecycle } from '../../../src/controllers/node-lifecycle/controller.ts'
import { timestamp } from '../../../src/controllers/kit/workload/index.ts'
import { taintEviction } from '../../../src/controllers/taint-eviction/controller.ts'
import { Scene } from '../kit/scene.ts'

/** A cluster of nodes that are alive for as long as the test says so. */
export class NodeScene {
  readonly scene: Scene
  readonly #alive = new Set<string>()

  private constructor(scene: Scene) {
    this.scene = scene
  }

  static async start(): Promise<NodeScene> {
    return new NodeScene(await Scene.start({ controllers: [nodeLifecycle, taintEviction] }))
  }

  get client() {
    return this.scene.client
  }

  /** Nodes that report themselves ready, once; from then on a lease says that they live. */
  async nodes(...names: string[]): Promise<void> {
    for (const name of names) {
      await this.client.create(nodes, { metadata: { name } } as Node)
      await this.report(name, 'True')
      await this.client.create(leases, { metadata: { name, namespace: 'kube-node-lease' }, spec: { holderIdentity: name, renewTime: this.#microTime() } })
      this.#alive.add(name)
    }
    await this.scene.pass(100)
  }

  /** Reports the node's own status. */
  async report(name: string, status: 'True' | 'False', more: object[] = []): Promise<void> {
    const now = timestamp(this.scene.clock.now())
    const ready = { type: 'Ready', status, reason: 'KubeletReady', message: '', lastHeartbeatTime: now, lastTransitionTime: now }
    await this.client.patch(nodes, '', name, { status: { conditions: [ready, ...more] } }, { type: 'strategic', subresource: 'status' })
  }

  lose(...names: string[]): void {
    for (const name of names) this.#alive.delete(name)
  }

  revive(name: string): Promise<void> {
    this.#alive.add(name)
    return this.report(name, 'True')
  }

  /** Lets time pass, with the nodes that live renewing their leases every ten seconds. */
  async pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 10) {
      for (const name of this.#alive) {
        await this.client.patch(leases, 'kube-node-lease', name, { spec: { renewTime: this.#microTime() } }, { type: 'merge' })
      }
      await this.scene.pass(Math.min(left, 10) * 1000)
    }
  }

  async pod(name: string, nodeName: string, tolerations?: Toleration[]): Promise<Pod> {
    const spec = { nodeName, containers: [{ name: 'main', image: 'registry.example/app:1' }], ...(tolerations ? { tolerations } : {}) }
    await this.client.create(pods, { metadata: { name, namespace: 'default' }, spec } as Draft<Pod> as Pod)
    const now = timestamp(this.scene.clock.now())
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }] }
    return this.client.patch(pods, 'default', name, { status }, { type: 'strategic', subresource: 'status' })
  }

  getPod(name: string): Promise<Pod> {
    return this.client.get(pods, 'default', name)
  }

  async taints(name: string): Promise<string[]> {
    const { spec } = await this.client.get(nodes, '', name)
    return (spec.taints ?? []).map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`).sort()
  }

  async conditions(name: string): Promise<Record<string, string>> {
    const { status } = await this.client.get(nodes, '', name)
    return Object.fromEntries((status.conditions ?? []).map((c) => [c.type, `${c.status} ${c.reason}`]))
  }

  #microTime(): string {
    return new Date(this.scene.clock.now()).toISOString().replace('Z', '000Z')
  }
}
