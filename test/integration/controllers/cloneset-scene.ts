import type { CloneSet, Pod } from '../../../src/api/generated/types.ts'
import { clonesets } from '../../../src/client/index.ts'
import { cloneSetController } from '../../../src/controllers/cloneset/controller.ts'
import type { ManagedController } from '../../../src/controllers/kit/index.ts'
import type { PodState } from './kubelet.ts'
import { type Gates, type World, WorkloadScene, beginWorld, isReady } from './workload-scene.ts'

/** A CloneSet, its controller, and the nodes. */
export class CloneSetScene extends WorkloadScene<CloneSet> {
  private constructor(world: World, name: string) {
    super(clonesets, world, name)
  }

  static async of(gates: Gates = {}, others: readonly ManagedController[] = []): Promise<CloneSetScene> {
    return new CloneSetScene(await beginWorld([cloneSetController], { server: gates, others }), 'web')
  }

  /** One that is made and runs. */
  static async running(replicas: number, spec: object = {}, gates: Gates = {}): Promise<CloneSetScene> {
    const s = await CloneSetScene.of(gates)
    await s.create(replicas, spec)
    await s.settle()
    return s
  }

  /** Another set in the same cluster. */
  another(name: string): CloneSetScene {
    return new CloneSetScene(this.world, name)
  }

  create(replicas: number, spec: object = {}, metadata: object = {}, podSpec: object = {}): Promise<void> {
    return this.createWith({ replicas, ...spec }, metadata, podSpec)
  }

  // The server merges lists of kinds of other groups by patches of JSON only.
  protected override get patchType(): 'merge' {
    return 'merge'
  }

  update(updateStrategy: object): Promise<void> {
    return this.change({ updateStrategy })
  }

  /** Says of the pods with this image that they are so. */
  report(state: PodState, image: string, count = Number.POSITIVE_INFINITY): Promise<void> {
    let left = count
    return this.reportThat(state, (pod) => imageOf(pod) === image && !isReady(pod) && left-- > 0)
  }

  /**
   * The numbers of pods by image and state: `app:1 ×3 app:2 ×1! ×2-` has one pod of app:2 that is not ready, and two
   * terminating ones.
   */
  async images(): Promise<string> {
    const tally = new Map<string, number>()
    for (const pod of await this.pods()) {
      const what = `${imageOf(pod)} ${pod.metadata.deletionTimestamp ? '-' : isReady(pod) ? '' : '!'}`
      tally.set(what, (tally.get(what) ?? 0) + 1)
    }
    return [...tally].map(([what, count]) => `${what.split(' ')[0]}×${count}${what.split(' ')[1]}`).sort().join(' ')
  }
}

export const imageOf = (pod: Pod): string => pod.spec.containers[0]!.image!
