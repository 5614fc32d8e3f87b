import { isConflict, isNotFound } from '../../api/errors.ts'
import type { Node, Pod } from '../../api/generated/types.ts'
import { type InformerHandler, keyOf, nodes, pods, sharedFamilies } from '../../client/index.ts'
import {
  type Again,
  type FreeContext,
  type FreeController,
  KeyLoop,
  ReplacedVersions,
  type Running,
  eachOf,
} from '../kit/index.ts'
import { byNode, disruptionPatch, isPodFinished, isPodTerminating, podsOnNode } from '../kit/workload/index.ts'
import { type Reason, isLeftToFinalizers, isOutOfService, surplus, whyStuck } from './plan.ts'

/**
 * Sets the phase Failed on a pod whose node cannot report any more, and deletes it. Returns true if that was done. Both
 * writes check the version that the decision is based on: a pod that has succeeded since must not be marked as failed.
 */
async function removePod(ctx: FreeContext, replaced: ReplacedVersions, pod: Pod, why: Reason): Promise<boolean> {
  const { client, signal } = ctx
  try {
    const last = why !== 'half-removed' && !isPodFinished(pod) ? await failPod(ctx, replaced, pod, why) : pod
    const { namespace = '', name = '', uid, resourceVersion } = last.metadata
    const options = { uid, resourceVersion, gracePeriodSeconds: 0, signal }
    await replaced.write(last, () => client.delete(pods, namespace, name, options))
    return true
  } catch (e) {
    if (!isNotFound(e) && !isConflict(e)) throw e
    return false
  }
}

/** Returns the changed pod. */
function failPod(ctx: FreeContext, replaced: ReplacedVersions, pod: Pod, why: Reason): Promise<Pod> {
  const { client, clock, signal } = ctx
  const { namespace = '', name = '', uid, resourceVersion } = pod.metadata
  const disruption = disruptionPatch(pod, 'DeletionByPodGC', 'PodGC: node no longer exists', clock.now())
  const conditions = why === 'orphaned' ? (disruption as { status?: object } | undefined)?.status : undefined
  const patch = { metadata: { uid, resourceVersion }, status: { phase: 'Failed', ...conditions } }
  const options = { type: 'strategic', subresource: 'status', signal } as const
  return replaced.write(pod, () => client.patch(pods, namespace, name, patch, options))
}

/** The time for which a node must be missing before its pods are deleted. */
const quarantineMs = 40_000
/** The time for which a terminating pod may end by itself. */
const patienceMs = 5000
/** The interval of deletions while there are too many finished pods. */
const thinOutMs = 20_000

const podKey = (pod: Pod) => `pod ${keyOf(pod)}`
const nodeKey = (name: string) => `node ${name}`
const finishedKey = 'finished'

export interface PodGcOptions {
  /** The number of finished pods to keep. 0 keeps all. Default: 12,500. */
  terminatedPodThreshold?: number
}

/** Deletes pods that no other component does: of missing nodes, without a node, or finished and too many. */
export const definePodGc = ({ terminatedPodThreshold = 12_500 }: PodGcOptions = {}): FreeController => ({
  name: 'pod-garbage-collector',
  reads: [pods, nodes],
  indexes: [byNode],
  start: (ctx) => new PodGc(ctx, terminatedPodThreshold),
})

export const podGcController = definePodGc()

const families = sharedFamilies((registry) => ({
  removed: registry.counter(
    'pod_gc_collector_force_delete_pods_total',
    'Number of pods deleted by the garbage collector, by reason',
  ),
}))

class PodGc implements Running {
  readonly #ctx: FreeContext
  readonly #threshold: number
  readonly #loop: KeyLoop
  /** The keys of finished pods, so that counting them is free. */
  readonly #finished = new Set<string>()
  /** A pod whose cached version is one of these is ignored until the cache has a newer version. */
  readonly #replaced = new ReplacedVersions()
  readonly #removeHandlers: (() => void)[]
  readonly #count: (pod: Pod, reason: Reason) => void

  constructor(ctx: FreeContext, threshold: number) {
    this.#ctx = ctx
    this.#threshold = threshold
    this.#loop = new KeyLoop('pod_garbage_collector', ctx, (key) => this.#look(key))
    const measured = ctx.metrics && families(ctx.metrics)
    this.#count = (pod, reason) => measured?.removed.with({ namespace: pod.metadata.namespace ?? '', reason }).inc()
    this.#removeHandlers = [
      ctx.caches.of(nodes).addHandler(this.#nodeHandler()),
      ctx.caches.of(pods).addHandler(this.#podHandler()),
    ]
    this.#loop.start()
  }

  problems(): string[] {
    return this.#loop.problems()
  }

  async stop(): Promise<void> {
    for (const remove of this.#removeHandlers) remove()
    await this.#loop.stop()
  }

  #podHandler(): InformerHandler<Pod> {
    return {
      add: (pod) => this.#note(pod),
      update: (_old, pod) => this.#note(pod),
      delete: (pod) => {
        this.#replaced.gone(pod)
        this.#finished.delete(keyOf(pod))
      },
    }
  }

  #note(pod: Pod): void {
    this.#replaced.saw(pod)
    const { queue } = this.#loop
    const name = pod.spec?.nodeName
    const node = name ? this.#ctx.caches.get(nodes, '', name) : undefined
    if (name && !node && !isLeftToFinalizers(pod)) queue.addAfter(nodeKey(name), quarantineMs)
    if (whyStuck(pod, node)) queue.addAfter(podKey(pod), patienceMs)
    if (!isPodFinished(pod)) return
    this.#finished.add(keyOf(pod))
    if (this.#threshold > 0 && this.#finished.size > this.#threshold) queue.addAfter(finishedKey, thinOutMs)
  }

  #nodeHandler(): InformerHandler<Node> {
    const { queue } = this.#loop
    return {
      update: (_old, node) => {
        if (!isOutOfService(node)) return
        for (const pod of podsOnNode(this.#ctx.caches, node.metadata.name ?? ''))
          if (isPodTerminating(pod)) {
            queue.addAfter(podKey(pod), patienceMs)
          }
      },
      delete: ({ metadata: { name = '' } }) => {
        if (podsOnNode(this.#ctx.caches, name).length > 0) queue.addAfter(nodeKey(name), quarantineMs)
      },
    }
  }

  async #look(key: string): Promise<Again> {
    if (key === finishedKey) return this.#thinOut()
    const name = key.slice(key.indexOf(' ') + 1)
    return key.startsWith('node ') ? this.#lookAtNode(name) : this.#lookAtPod(name)
  }

  async #lookAtPod(key: string): Promise<Again> {
    const { caches } = this.#ctx
    const pod = caches.of(pods).get(key)
    if (!pod || this.#replaced.has(pod)) return undefined
    const node = pod.spec?.nodeName ? caches.get(nodes, '', pod.spec.nodeName) : undefined
    const reason = whyStuck(pod, node)
    // A node that is back in service ends its pods itself, although the cache may not contain the change yet.
    const live = reason === 'terminating-on-out-of-service-node' ? await this.#liveNode(pod.spec?.nodeName ?? '') : node
    if (reason && whyStuck(pod, live) === reason) await this.#remove(pod, reason)
    return undefined
  }

  async #lookAtNode(name: string): Promise<Again> {
    const { caches } = this.#ctx
    if (caches.get(nodes, '', name)) return undefined
    const left = podsOnNode(caches, name).filter((pod) => !isLeftToFinalizers(pod) && !this.#replaced.has(pod))
    if (left.length === 0 || (await this.#liveNode(name))) return undefined
    await eachOf(left, (pod) => this.#remove(pod, 'orphaned'))
    return undefined
  }

  async #thinOut(): Promise<Again> {
    const cache = this.#ctx.caches.of(pods)
    const cached = [...this.#finished].flatMap((key) => cache.get(key) ?? [])
    const finished = cached.filter((pod) => !isLeftToFinalizers(pod) && !this.#replaced.has(pod))
    await eachOf(surplus(finished, this.#threshold), (pod) => this.#remove(pod, 'terminated'))
    return undefined
  }

  async #remove(pod: Pod, reason: Reason): Promise<void> {
    this.#ctx.logger.info('deleting a pod', { pod: keyOf(pod), reason })
    if (await removePod(this.#ctx, this.#replaced, pod, reason)) this.#count(pod, reason)
  }

  /** The node as the server has it. */
  async #liveNode(name: string): Promise<Node | undefined> {
    const { client, signal } = this.#ctx
    try {
      return await client.get(nodes, '', name, { signal })
    } catch (e) {
      if (isNotFound(e)) return undefined
      throw e
    }
  }
}
