import type { Pod, PodCondition } from '../api/generated/types.ts'
import { timestamp } from '../api/kinds/pod-prepare.ts'
import { type Client, isNotFound, pods } from '../client/index.ts'
import type { PodInfo } from './cluster/pod-info.ts'

/** What is written about a pod's status. */
interface StatusChange {
  condition?: Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>
  /** '' for none; undefined leaves it as it is. */
  nominatedNodeName?: string
}

/** Writes what was decided about pods. */
export class PodWrites {
  readonly #client: Client
  readonly #now: () => number

  constructor(client: Client, now: () => number) {
    this.#client = client
    this.#now = now
  }

  async bind({ pod: { metadata } }: PodInfo, node: string, signal: AbortSignal): Promise<void> {
    const { name = '', namespace = '', uid } = metadata
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target: { apiVersion: 'v1', kind: 'Node', name: node } }
    await this.#client.subresource(pods, namespace, name, 'binding', { method: 'POST', body, signal })
  }

  /** Writes only what is not so already. A pod that is gone needs nothing written. */
  async setStatus(pod: Pod, change: StatusChange, signal: AbortSignal): Promise<void> {
    const { metadata, status } = pod
    const patch: { conditions?: PodCondition[]; nominatedNodeName?: string | null } = {}
    if (change.condition) {
      const old = status?.conditions?.find(({ type }) => type === change.condition!.type)
      const isSame = old?.status === change.condition.status && old.reason === change.condition.reason && old.message === change.condition.message
      const lastTransitionTime = old?.status === change.condition.status && old.lastTransitionTime ? old.lastTransitionTime : timestamp(this.#now())
      if (!isSame) patch.conditions = [{ ...change.condition, lastProbeTime: null, lastTransitionTime, observedGeneration: metadata.generation }]
    }
    if (change.nominatedNodeName !== undefined && change.nominatedNodeName !== (status?.nominatedNodeName ?? '')) patch.nominatedNodeName = change.nominatedNodeName || null
    if (Object.keys(patch).length === 0) return
    const { namespace = '', name = '', uid } = metadata
    await this.#client.patch(pods, namespace, name, { metadata: { uid }, status: patch }, { type: 'strategic', subresource: 'status', signal }).catch(unlessGone)
  }

  /** Has a pod go to make room. Answers whether it had to be told. */
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
