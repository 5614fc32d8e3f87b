import type { Pod } from '../../../src/api/generated/types.ts'
import { timestamp } from '../../../src/controllers/kit/workload/index.ts'
import { type Client, pods } from '../../../src/client/index.ts'
import type { Clock } from '../../../src/base/clock.ts'

/** A pod state that a node may report. `{ waiting }` is the reason why its containers do not start. */
export type PodState = 'ready' | 'unready' | 'failed' | 'succeeded' | { waiting: string; message?: string }

/** The nodes of a cluster without any: a test says what becomes of pods. */
export class Kubelet {
  readonly #clientNow: () => Client
  readonly #clock: Clock

  /** `client` is asked for anew each time where servers come and go. */
  constructor(client: Client | (() => Client), clock: Clock) {
    this.#clientNow = typeof client === 'function' ? client : () => client
    this.#clock = clock
  }

  get #client(): Client {
    return this.#clientNow()
  }

  /** Puts pods on a node, unless they are on one, and reports them so, all at the same time. */
  async report(state: PodState, some: readonly Pod[], node = 'n1'): Promise<void> {
    await Promise.all(some.map((pod) => this.#reportOne(state, pod, node)))
  }

  async #reportOne(state: PodState, pod: Pod, node: string): Promise<void> {
    const { namespace = '', name = '' } = pod.metadata
    if (!pod.spec.nodeName) {
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target: { kind: 'Node', name: node } }
      await this.#client.transport.send({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`, body })
    }
    await this.#client.patch(pods, namespace, name, { status: this.#statusOf(pod, state) }, { type: 'strategic', subresource: 'status' })
  }

  /** Ends pods that are going. */
  async reap(some: readonly Pod[]): Promise<void> {
    const going = some.filter((p) => p.metadata.deletionTimestamp)
    await Promise.all(going.map(({ metadata }) => this.#client.delete(pods, metadata.namespace ?? '', metadata.name ?? '', { gracePeriodSeconds: 0 })))
  }

  #statusOf(pod: Pod, state: PodState): object {
    const now = timestamp(this.#clock.now())
    const waiting = typeof state === 'object' ? { reason: state.waiting, message: state.message } : undefined
    const isOver = state === 'failed' || state === 'succeeded'
    const exitCode = state === 'failed' ? 1 : 0
    return {
      phase: state === 'failed' ? 'Failed' : state === 'succeeded' ? 'Succeeded' : waiting ? 'Pending' : 'Running',
      conditions: [{ type: 'Ready', status: state === 'ready' ? 'True' : 'False', lastTransitionTime: now }],
      containerStatuses: pod.spec.containers.map(({ name, image = '' }) => ({
        name,
        image,
        imageID: '',
        restartCount: 0,
        ready: state === 'ready',
        state: waiting ? { waiting } : isOver ? { terminated: { exitCode } } : { running: { startedAt: now } },
      })),
    }
  }
}
