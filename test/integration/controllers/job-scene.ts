import type { GateName } from '../../../src/api/feature-gates.ts'
import type { Job, JobSpec, Pod } from '../../../src/api/generated/types.ts'
import { controllerOf, jobs, pods } from '../../../src/client/index.ts'
import { jobController } from '../../../src/controllers/job/controller.ts'
import { orphanPodController } from '../../../src/controllers/job/orphan-pods.ts'
import { findCondition } from '../../../src/controllers/kit/workload/index.ts'
import { Scene } from '../kit/scene.ts'
import { Kubelet, type PodState } from './kubelet.ts'

export const podSpec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/app:1', resources: {} }] }

/** A Job `j`, its controller, and the nodes. */
export class JobScene {
  readonly scene: Scene
  readonly kubelet: Kubelet

  private constructor(scene: Scene) {
    this.scene = scene
    this.kubelet = new Kubelet(scene.client, scene.clock)
  }

  static async start(gates: Partial<Record<GateName, boolean>> = {}): Promise<JobScene> {
    return new JobScene(await Scene.start({ controllers: [jobController, orphanPodController], gates }))
  }

  async create(spec: Partial<JobSpec> = {}, name = 'j'): Promise<void> {
    await this.client.create(jobs, { metadata: { name, namespace: 'default' }, spec: { template: { spec: podSpec }, ...spec } as JobSpec })
    await this.scene.pass(1000)
  }

  async change(spec: object): Promise<void> {
    await this.client.patch(jobs, 'default', 'j', { spec }, { type: 'merge' })
    await this.scene.pass(1000)
  }

  /** Reports a state for these pods. Default: for those that have not ended. */
  async report(state: PodState, some?: readonly Pod[]): Promise<void> {
    await this.kubelet.report(state, some ?? (await this.pods()).filter((p) => p.status.phase === 'Pending' || p.status.phase === 'Running'))
    await this.scene.pass(1000)
  }

  job(name = 'j'): Promise<Job> {
    return this.client.get(jobs, 'default', name)
  }

  async status() {
    return (await this.job()).status
  }

  /** Its own. */
  async pods(name = 'j'): Promise<Pod[]> {
    const { uid } = (await this.job(name)).metadata
    return (await this.client.list(pods, 'default')).items.filter((p) => controllerOf(p)?.uid === uid)
  }

  /** The types among these whose condition is true. */
  async truths(...types: string[]): Promise<string[]> {
    const { conditions } = await this.status()
    return types.filter((type) => findCondition(conditions, type)?.status === 'True')
  }

  async condition(type: string) {
    return findCondition((await this.status()).conditions, type)
  }

  get client() {
    return this.scene.client
  }
}
