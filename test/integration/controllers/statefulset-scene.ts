import type { Pod, StatefulSet } from '../../../src/api/generated/types.ts'
import { statefulsets } from '../../../src/client/index.ts'
import type { ManagedController } from '../../../src/controllers/kit/index.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/controller.ts'
import type { PodState } from './kubelet.ts'
import { type Gates, type World, WorkloadScene, beginWorld, isReady } from './workload-scene.ts'

/** A StatefulSet, its controller, and the nodes. */
export class StatefulSetScene extends WorkloadScene<StatefulSet> {
  private constructor(world: World, name: string) {
    super(statefulsets, world, name)
  }

  static async of(gates: Gates = {}, others: readonly ManagedController[] = []): Promise<StatefulSetScene> {
    return new StatefulSetScene(await beginWorld([statefulSetController], { server: gates, others }), 'web')
  }

  /** Another set in the same cluster. */
  another(name: string): StatefulSetScene {
    return new StatefulSetScene(this.world, name)
  }

  create(replicas: number, spec: object = {}, metadata: object = {}, podSpec: object = {}): Promise<void> {
    return this.createWith({ replicas, serviceName: 'web', ...spec }, metadata, podSpec)
  }

  /** Reports pods by ordinal. */
  report(state: PodState, ...ordinals: number[]): Promise<void> {
    return this.reportThat(state, (pod) => ordinals.includes(ordinalOf(pod)))
  }

  override async pods(): Promise<Pod[]> {
    return (await super.pods()).toSorted((a, b) => ordinalOf(a) - ordinalOf(b))
  }

  /** The ordinals of pods by state: `0 1 2! 3-` has 2 not ready and 3 going. */
  async places(): Promise<string> {
    return (await this.pods()).map((p) => `${ordinalOf(p)}${p.metadata.deletionTimestamp ? '-' : isReady(p) ? '' : '!'}`).join(' ')
  }
}

export const ordinalOf = ({ metadata }: Pod): number => Number(metadata.name!.slice(metadata.name!.lastIndexOf('-') + 1))
