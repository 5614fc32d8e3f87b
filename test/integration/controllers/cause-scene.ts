import { type Workload, type WorkloadObject, explain, sentenceOf } from '../../../src/api/explain/index.ts'
import type { CloneSetLifecycle, Node, PersistentVolumeClaim, Pod } from '../../../src/api/generated/types.ts'
import { nodes, persistentvolumeclaims, poddisruptionbudgets } from '../../../src/client/index.ts'
import { refusalOf, revisionHashLabel } from '../../../src/controllers/kit/workload/index.ts'
import { EveryKindScene, type KindName, isRolling, kindOf } from './every-kind-scene.ts'

/** The first sentences of conditions of a workload that wants one pod, while none is available. */
interface FirstSentences {
  available: RegExp
  progressing?: RegExp
}

const none = /0 of 1 replica is available\./
const moving = /[01] of 1 replica is at revision [\w-]+, [01] of 1 is available\./

const sentences: Record<KindName, FirstSentences> = {
  deployment: {
    available: /Deployment does not have minimum availability\./,
    progressing: /(?:ReplicaSet "[\w-]+" is progressing|Created new replica set "[\w-]+")\./,
  },
  replicaset: { available: none },
  replicationcontroller: { available: none },
  statefulset: { available: none, progressing: moving },
  parallel: { available: none, progressing: moving },
  daemonset: {
    available: /0 of 1 node has an available pod\./,
    progressing: /[01] of 1 node is at revision [\w-]+, (?:0 are|1 is) available\./,
  },
  cloneset: { available: none, progressing: moving },
  job: { available: /(?:No pod is running yet|A pod is running|The Job has no pods)\./ },
}

export const sentencesOf = (name: KindName): FirstSentences => sentences[name]

/** One workload of each kind with one pod and a deadline of a minute, and one node. */
export class CauseScene extends EveryKindScene {
  static async start(): Promise<CauseScene> {
    const s = new CauseScene(await EveryKindScene.world())
    await s.addNode('n1')
    return s
  }

  override create(name: KindName, podSpec: object = {}, spec: object = {}, metadata: object = {}): Promise<void> {
    return super.create(
      name, podSpec, { ...(isRolling(name) ? { progressDeadlineSeconds: 60 } : {}), ...spec }, metadata,
    )
  }

  /** The sentences of explain() about the objects that the server has now. */
  async explained(name: KindName): Promise<string[]> {
    return explain(await this.#workload(name)).map(sentenceOf)
  }

  async #workload(name: KindName): Promise<Workload> {
    const object = await this.get(name)
    const { updateRevision } = object.status ?? {}
    const isUpdated = (pod: Pod) => updateRevision!.endsWith(pod.metadata.labels?.[revisionHashLabel] ?? '-')
    const { items: claims } = await this.client.list(persistentvolumeclaims, 'default')
    const { items: someNodes } = await this.client.list(nodes, '')
    const { items: budgets } = await this.client.list(poddisruptionbudgets, 'default')
    const { minReadySeconds = 0, lifecycle } = object.spec as {
      minReadySeconds?: number; lifecycle?: CloneSetLifecycle,
    }
    return {
      kind: kindOf(name).kind,
      object: object as unknown as WorkloadObject,
      pods: await this.pods(name),
      around: {
        nowMs: this.scene.clock.now(),
        minReadySeconds,
        runsToCompletion: name === 'job',
        lifecycle,
        claimOf: (claim): PersistentVolumeClaim | undefined => claims.find(({ metadata }) => metadata.name === claim),
        nodeOf: (node): Node | null => someNodes.find(({ metadata }) => metadata.name === node) ?? null,
      },
      refusal: refusalOf(object.status?.conditions),
      budgets,
      ...(updateRevision ? { isUpdated } : {}),
    }
  }
}
