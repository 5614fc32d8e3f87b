import { ApiError } from '../api/errors.ts'
import type { Pod, PodCondition } from '../api/generated/types.ts'
import { timestamp } from '../api/object.ts'
import type { Clock } from '../base/clock.ts'
import { type Client, TransportError, isConflict, isNotFound, pods, waitFor } from '../client/index.ts'
import type { PodInfo } from './cluster/pod-info.ts'

/** A change of a pod's status. */
interface StatusChange {
  condition?: Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>
  /** Empty to clear it. Undefined to leave it unchanged. */
  nominatedNodeName?: string
}

/** The wait between two attempts to bind a pod whose binding was not answered. */
const firstWaitMs = 100
const longestWaitMs = 5000

/** The state of a pod that no request has answered yet. */
const unknown = Symbol('unknown')

/** Writes the decisions about pods. */
export class PodWrites {
  readonly #client: Client
  readonly #clock: Clock

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /**
   * Resolves when the pod is bound, and rejects when it certainly will not be, because room that may still be used must
   * not be assigned to others. An unanswered binding is checked as long as necessary. Of two bindings the second is
   * rejected.
   */
  async bind({ pod: { metadata } }: PodInfo, node: string, signal: AbortSignal): Promise<void> {
    const { name = '', namespace = '', uid } = metadata
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    }
    let isUnderWay = false
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
      try {
        await this.#client.subresource(pods, namespace, name, 'binding', { method: 'POST', body, signal })
        return
      } catch (e) {
        const isUnanswered = e instanceof TransportError && !e.isUnsent
        const isServersFault = e instanceof ApiError && e.code >= 500
        if (!isUnanswered && !isServersFault && !(isUnderWay && isConflict(e))) throw e
        const found = isUnanswered ? unknown : await this.#nodeOf(metadata, signal)
        if (found === node) return
        isUnderWay ||= found === unknown
        // A rejection is final for earlier unanswered requests as well, which would be rejected in the same way.
        if (found !== unknown && (!isUnderWay || isConflict(e))) throw e
      }
      await waitFor(this.#clock, waitMs, signal)
    }
  }

  async #nodeOf(
    { name = '', namespace = '', uid }: Pod['metadata'],
    signal: AbortSignal,
  ): Promise<string | undefined | typeof unknown> {
    try {
      const pod = await this.#client.get(pods, namespace, name, { signal })
      return pod.metadata.uid === uid ? pod.spec.nodeName : undefined
    } catch (e) {
      signal.throwIfAborted()
      return isNotFound(e) ? undefined : unknown
    }
  }

  /** Writes only what differs. A deleted pod needs no write. */
  async setStatus(pod: Pod, change: StatusChange, signal: AbortSignal): Promise<void> {
    const { metadata, status } = pod
    const patch: { conditions?: PodCondition[]; nominatedNodeName?: string | null } = {}
    if (change.condition) {
      const old = status?.conditions?.find(({ type }) => type === change.condition!.type)
      const isSame =
        old?.status === change.condition.status &&
        old.reason === change.condition.reason &&
        old.message === change.condition.message
      const lastTransitionTime =
        old?.status === change.condition.status && old.lastTransitionTime
          ? old.lastTransitionTime
          : timestamp(this.#clock.now())
      if (!isSame) {
        patch.conditions = [
          {
            ...change.condition,
            lastProbeTime: null,
            lastTransitionTime,
            observedGeneration: metadata.generation,
          },
        ]
      }
    }
    if (change.nominatedNodeName !== undefined && change.nominatedNodeName !== (status?.nominatedNodeName ?? '')) {
      patch.nominatedNodeName = change.nominatedNodeName || null
    }
    if (Object.keys(patch).length === 0) return
    const { namespace = '', name = '', uid } = metadata
    await this.#client
      .patch(
        pods,
        namespace,
        name,
        { metadata: { uid }, status: patch },
        { type: 'strategic', subresource: 'status', signal },
      )
      .catch(unlessGone)
  }

  /** Deletes a pod to make room. Returns whether that was necessary. */
  async evict(victim: PodInfo, schedulerName: string, signal: AbortSignal): Promise<boolean> {
    const { namespace = '', name = '', uid = '', deletionTimestamp } = victim.pod.metadata
    if (deletionTimestamp) return false
    const message = `${schedulerName}: preempting to accommodate a higher priority pod`
    const condition = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message }
    await this.setStatus(victim.pod, { condition }, signal)
    await this.#client.delete(pods, namespace, name, { uid, signal }).catch(unlessGone)
    return true
  }
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error
}
