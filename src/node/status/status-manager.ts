import type { Pod, PodStatus } from '../../api/generated/types.ts'
import { semanticEqual } from '../../api/deep-equal.ts'
import { inPlaceUpdateReady } from '../../api/kinds/in-place-update.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { type Clock, turnsOf } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import type { Turns } from '../../base/turns.ts'
import { ApiError, type Client, TransportError, isAnotherUid, isConflict, isNotFound, pods } from '../../client/index.ts'
import { PatchBudget } from './patch-budget.ts'
import { saysReady, withStoredReadiness } from './readiness.ts'
import { sharedWith, statusPatch } from './status-patch.ts'

export interface StatusManagerOptions {
  client: Client
  clock: Clock
  random: Random
  logger: Logger
  /** Whether the API says that the node is lost: readiness is then said by the node life cycle controller. */
  isNodeLost(): boolean
  /** Has the node read anew. The answer is false if that could not be. */
  lookAtNode(): Promise<boolean>
  /** Counts what was sent; shared by all nodes of a process. */
  patched?(outcome: 'done' | 'failed'): void
}

interface Entry {
  /** The newest version of the pod that is known, from the watch or from the answer to a patch. */
  pod: Pod
  /** What was generated last; undefined while only the API's is known. */
  status: PodStatus | undefined
  /** The version of the pod that this was generated from; undefined once it is known to be an old one. */
  basis: string | undefined
  budget: PatchBudget
  isSending: boolean
  /** Passes by the budget: the last word about a pod that goes. */
  isUrgent: boolean
  cancelWait: (() => void) | undefined
  /** Those who wait for the API to have the newest. */
  waiting: (() => void)[]
}

interface Patch {
  metadata: { uid: string; resourceVersion?: string | undefined }
  status: object
}

const concurrency = 16
const firstBackOffMs = 200
const longestBackOffMs = 10_000
/** While the API does not say how the node is, it is asked so often. */
const lookAgainMs = 1000

/**
 * Writes what is said about pods: the newest only, one patch a pod and batch, none that changes nothing. While the API is away it tries again, less and less often.
 */
export class StatusManager {
  readonly #options: StatusManagerOptions
  readonly #entries = new Map<string, Entry>()
  /** Pods with something to say, in the order in which they came. */
  readonly #dirty = new Set<string>()
  #inFlight = 0
  #failures = 0
  #cancelBackOff: (() => void) | undefined
  /** While it is not known whether the node is lost: somebody else has said that a pod is not ready. */
  #doubt: { isNew: boolean } | undefined
  #isScheduled = false
  #isStopped = false

  constructor(options: StatusManagerOptions) {
    this.#options = options
  }

  /** What was said last about a pod; undefined if nothing since the agent started. */
  get(uid: string): PodStatus | undefined {
    return this.#entries.get(uid)?.status
  }

  /** Says something about a pod: sent with the next batch, unless something newer is said before. */
  set(pod: Pod, status: PodStatus, isUrgent = false): void {
    const entry = this.#entry(pod)
    if (isUrgent) entry.isUrgent = true
    entry.basis = pod.metadata.resourceVersion
    const isKnown = entry.status !== undefined && !isUrgent && semanticEqual(entry.status, status)
    // What is known may have waited to be about this version.
    if (isKnown && !this.#dirty.has(pod.metadata.uid!)) return
    entry.status = status
    this.#markDirty(pod.metadata.uid!)
  }

  /** The API has this version of a pod now. Should it say something else than was said here, it is told again. */
  observed(pod: Pod): void {
    const entry = this.#entries.get(pod.metadata.uid!)
    if (!entry || !isNewer(pod, entry.pod)) return
    this.#take(entry, pod)
    if (entry.status && !entry.isSending && this.#patchOf(entry, entry.status)) this.#markDirty(pod.metadata.uid!)
    else if (!this.#dirty.has(pod.metadata.uid!)) this.#settle(entry)
  }

  /** The node was lost, and is not any more: whether its pods are ready is its own business again. */
  nodeFound(): void {
    for (const [uid, entry] of this.#entries) {
      if (entry.status && this.#patchOf(entry, entry.status)) this.#markDirty(uid)
    }
  }

  /** Resolves once the API has what was said last, or the pod is gone. */
  settled(uid: string): Promise<void> {
    const entry = this.#entries.get(uid)
    if (!entry || (!this.#dirty.has(uid) && !entry.isSending)) return Promise.resolve()
    return new Promise((resolve) => entry.waiting.push(resolve))
  }

  forget(uid: string): void {
    const entry = this.#entries.get(uid)
    if (!entry) return
    entry.cancelWait?.()
    this.#entries.delete(uid)
    this.#dirty.delete(uid)
    this.#release(entry)
  }

  /** How many pods wait to be told of. */
  get pending(): number {
    return this.#dirty.size + this.#inFlight
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelBackOff?.()
    for (const uid of this.#entries.keys()) this.forget(uid)
  }

  #entry(pod: Pod): Entry {
    const uid = pod.metadata.uid!
    let entry = this.#entries.get(uid)
    if (!entry) {
      const budget = new PatchBudget(this.#options.clock.now())
      entry = { pod, status: undefined, basis: undefined, budget, isSending: false, isUrgent: false, cancelWait: undefined, waiting: [] }
      this.#entries.set(uid, entry)
    } else if (isNewer(pod, entry.pod)) entry.pod = pod
    return entry
  }

  /** Takes in a newer version of a pod. A mark that it is not ready may be heard of before the node that is lost. */
  #take(entry: Entry, pod: Pod): void {
    const isMarked = saysReady(entry.pod.status) && !saysReady(pod.status) && saysReady(entry.status)
    entry.pod = pod
    if (isMarked && !this.#options.isNodeLost()) void this.#askForNode()
  }

  /** What is to be written so that the API has this status, as far as it is for the node to say. */
  #patchOf({ pod }: Entry, status: PodStatus): Record<string, unknown> | undefined {
    const isOurs = !this.#doubt && !this.#options.isNodeLost()
    return statusPatch(pod.status, isOurs ? status : withStoredReadiness(pod.status, status))
  }

  /** Asks how the node is, after all that has been seen. Until it is known, no pod is said to be ready again. */
  async #askForNode(): Promise<void> {
    if (this.#doubt) {
      this.#doubt.isNew = true
      return
    }
    const doubt: { isNew: boolean } = { isNew: true }
    this.#doubt = doubt
    // It ends with an answer, or with the agent.
    while (doubt.isNew && !this.#isStopped) {
      doubt.isNew = false
      if (await this.#options.lookAtNode()) continue
      doubt.isNew = true
      await new Promise<void>((resolve) => this.#options.clock.after(lookAgainMs, resolve))
    }
    this.#doubt = undefined
    if (!this.#options.isNodeLost()) this.nodeFound()
  }

  #markDirty(uid: string): void {
    this.#dirty.add(uid)
    this.#schedule()
  }

  /** What is said in the same moment goes into the same batch. */
  #schedule(): void {
    if (this.#isScheduled || this.#isStopped || this.#cancelBackOff) return
    this.#isScheduled = true
    this.#options.clock.after(0, () => {
      this.#isScheduled = false
      this.#sendBatch()
    })
  }

  #sendBatch(): void {
    if (this.#isStopped || this.#cancelBackOff) return
    const turns = turnsOf(this.#options.clock)
    for (const uid of this.#dirty) {
      if (this.#inFlight >= (this.#failures > 0 ? 1 : concurrency)) return
      const entry = this.#entries.get(uid)
      if (entry && (entry.isSending || entry.cancelWait || isOutdated(entry))) continue
      this.#dirty.delete(uid)
      if (entry) this.#sendOne(uid, entry)
      if (turns.isSpent) return this.#goOn(turns)
    }
  }

  /** Sends the rest in another turn: the nodes of one process report thousands of pods at the same time. */
  #goOn(turns: Turns): void {
    this.#isScheduled = true
    void turns.next().then(() => {
      this.#isScheduled = false
      this.#sendBatch()
    })
  }

  #sendOne(uid: string, entry: Entry): void {
    const status = entry.status!
    const patch = this.#patchOf(entry, status)
    if (!patch) return this.#settle(entry)
    const { resourceVersion } = entry.pod.metadata
    const waitMs = entry.isUrgent ? 0 : entry.budget.take(this.#options.clock.now())
    if (waitMs > 0) {
      this.#dirty.add(uid)
      entry.cancelWait = this.#options.clock.after(waitMs, () => {
        entry.cancelWait = undefined
        this.#schedule()
      })
      return
    }
    entry.isSending = true
    this.#inFlight++
    void this.#send(entry, status, { metadata: { uid, ...(opensGate(status) ? { resourceVersion } : {}) }, status: patch })
  }

  async #send(entry: Entry, status: PodStatus, patch: Patch): Promise<void> {
    const { name = '', namespace = '' } = entry.pod.metadata
    const { uid, resourceVersion } = patch.metadata
    try {
      const pod = await this.#options.client.patch(pods, namespace, name, patch, { type: 'strategic', subresource: 'status' })
      this.#options.patched?.('done')
      this.#failures = 0
      if (isNewer(pod, entry.pod)) this.#take(entry, pod)
      this.#answered(uid, entry, entry.status !== status)
    } catch (error) {
      this.#options.patched?.('failed')
      if (resourceVersion !== undefined && isConflict(error) && entry.basis === resourceVersion) entry.basis = undefined
      this.#failed(uid, entry, error, resourceVersion !== undefined)
    }
    this.#schedule()
  }

  #answered(uid: string, entry: Entry, hasChanged: boolean): void {
    this.#inFlight--
    entry.isSending = false
    if (!this.#entries.has(uid)) return
    if (hasChanged && this.#patchOf(entry, entry.status!)) this.#dirty.add(uid)
    else this.#settle(entry)
  }

  #failed(uid: string, entry: Entry, error: unknown, isBound: boolean): void {
    this.#inFlight--
    entry.isSending = false
    if (!this.#entries.has(uid) || this.#isStopped) return
    const { name, namespace } = entry.pod.metadata
    if (isNotFound(error) || isAnotherUid(error)) return this.#settle(entry) // gone: the watch will say so
    const mayPass = error instanceof TransportError || isConflict(error) || (error instanceof ApiError && (error.code >= 500 || error.code === 429))
    if (!mayPass) {
      this.#options.logger.error('what was said about a pod was refused', { pod: `${namespace}/${name}`, error })
      return this.#settle(entry)
    }
    this.#dirty.add(uid)
    // Of a pod that has changed there is nothing to wait for but the watch.
    if (!isBound || !isConflict(error)) this.#backOff()
  }

  #backOff(): void {
    if (this.#cancelBackOff) return
    const { clock, random } = this.#options
    const delayMs = Math.min(longestBackOffMs, firstBackOffMs * 2 ** this.#failures++) * (0.5 + random.next() / 2)
    this.#cancelBackOff = clock.after(delayMs, () => {
      this.#cancelBackOff = undefined
      this.#schedule()
    })
  }

  #settle(entry: Entry): void {
    entry.isUrgent = false
    if (entry.status && entry.pod.status) entry.status = sharedWith(entry.pod.status, entry.status)
    this.#release(entry)
  }

  #release(entry: Entry): void {
    for (const resolve of entry.waiting.splice(0)) resolve()
  }
}

/**
 * Whether a status opens the gate that others shut: that is for the very version of the pod in which it was seen that it may be opened. Meanwhile it may
 * have been shut for something else.
 */
const opensGate = ({ conditions }: PodStatus): boolean => conditions?.some(({ type }) => type === inPlaceUpdateReady) === true

/** Whether what was said last must not be sent any more: something will be said of the pod as it is now. */
const isOutdated = ({ pod, status, basis }: Entry): boolean => status !== undefined && opensGate(status) && basis !== pod.metadata.resourceVersion

const isNewer = (pod: Pod, than: Pod): boolean => compareResourceVersions(pod.metadata.resourceVersion ?? '0', than.metadata.resourceVersion ?? '0') > 0
