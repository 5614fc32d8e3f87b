import type { Pod, PodStatus } from '../../api/generated/types.ts'
import { semanticEqual } from '../../api/deep-equal.ts'
import { inPlaceUpdateReady } from '../../api/kinds/pods/in-place-update.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { type Clock, turnsOf } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import type { Turns } from '../../base/turns.ts'
import {
  ApiError,
  type Client,
  TransportError,
  isAnotherUid,
  isConflict,
  isNotFound,
  pods,
} from '../../client/index.ts'
import { PatchBudget } from './patch-budget.ts'
import { saysReady, withStoredReadiness } from './readiness.ts'
import { sharedWith, statusPatch } from './status-patch.ts'

interface StatusManagerOptions {
  client: Client
  clock: Clock
  random: Random
  logger: Logger
  /** True if the API marks the node as lost: the node life cycle controller then writes the readiness of its pods. */
  isNodeLost(): boolean
  /** Reads the Node again. Resolves to false if that fails. */
  lookAtNode(): Promise<boolean>
  /** Counts patches; shared by all nodes of a process. */
  patched?(outcome: 'done' | 'failed'): void
}

interface Entry {
  /** The newest known version of the pod, from the watch or the response to a patch. */
  pod: Pod
  /** The status that was generated last; undefined if only the one in the API is known. */
  status: PodStatus | undefined
  /** The version of the pod from which the status was generated; undefined once it is outdated. */
  basis: string | undefined
  budget: PatchBudget
  isSending: boolean
  /** Bypasses the budget: the final status of a pod. */
  isUrgent: boolean
  cancelWait: (() => void) | undefined
  /** Callbacks for when the API has the newest status. */
  waiting: (() => void)[]
}

interface Patch {
  metadata: { uid: string; resourceVersion?: string | undefined }
  status: object
}

const concurrency = 16
const firstBackOffMs = 200
const longestBackOffMs = 10_000
/** The interval at which the Node is read again until a read succeeds. */
const lookAgainMs = 1000

/**
 * Writes pod statuses to the API: only the newest, at most one patch for each pod and batch, and none without changes.
 * Retries with back-off while the API is unavailable.
 */
export class StatusManager {
  readonly #options: StatusManagerOptions
  readonly #entries = new Map<string, Entry>()
  /** Pods with unsent statuses, in order. */
  readonly #dirty = new Set<string>()
  #inFlight = 0
  #failures = 0
  #cancelBackOff: (() => void) | undefined
  /** Set while another client has marked a pod as not ready and it is unknown whether the node is lost. */
  #doubt: { isNew: boolean } | undefined
  #isScheduled = false
  #isStopped = false

  constructor(options: StatusManagerOptions) {
    this.#options = options
  }

  /** The status that was set last; undefined if none was since the agent started. */
  get(uid: string): PodStatus | undefined {
    return this.#entries.get(uid)?.status
  }

  /** Sets the status of a pod. It is sent with the next batch unless a newer one replaces it. */
  set(pod: Pod, status: PodStatus, isUrgent = false): void {
    const entry = this.#entry(pod)
    if (isUrgent) entry.isUrgent = true
    entry.basis = pod.metadata.resourceVersion
    const isKnown = entry.status !== undefined && !isUrgent && semanticEqual(entry.status, status)
    // An earlier status may have waited for this version of the pod.
    if (isKnown && !this.#dirty.has(pod.metadata.uid!)) return
    entry.status = status
    this.#markDirty(pod.metadata.uid!)
  }

  /** Takes the version of a pod that the API has. If its status differs from the one set here, that is sent again. */
  observed(pod: Pod): void {
    const entry = this.#entries.get(pod.metadata.uid!)
    if (!entry || !isNewer(pod, entry.pod)) return
    this.#take(entry, pod)
    if (entry.status && !entry.isSending && this.#patchOf(entry, entry.status)) this.#markDirty(pod.metadata.uid!)
    else if (!this.#dirty.has(pod.metadata.uid!)) this.#settle(entry)
  }

  /** Called when a lost node is back: it writes the readiness of its pods again. */
  nodeFound(): void {
    for (const [uid, entry] of this.#entries) {
      if (entry.status && this.#patchOf(entry, entry.status)) this.#markDirty(uid)
    }
  }

  /** Resolves once the API has the status that was set last, or the pod is gone. */
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

  /** The number of pods with unsent statuses. */
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
      entry = {
        pod,
        status: undefined,
        basis: undefined,
        budget,
        isSending: false,
        isUrgent: false,
        cancelWait: undefined,
        waiting: [],
      }
      this.#entries.set(uid, entry)
    } else if (isNewer(pod, entry.pod)) entry.pod = pod
    return entry
  }

  /**
   * Takes a newer version of a pod. The mark that a pod is not ready may arrive before the news that the node is lost.
   */
  #take(entry: Entry, pod: Pod): void {
    const isMarked = saysReady(entry.pod.status) && !saysReady(pod.status) && saysReady(entry.status)
    entry.pod = pod
    if (isMarked && !this.#options.isNodeLost()) void this.#askForNode()
  }

  /** The patch that gives the pod its status, as far as the node may write it. */
  #patchOf({ pod }: Entry, status: PodStatus): Record<string, unknown> | undefined {
    const isOurs = !this.#doubt && !this.#options.isNodeLost()
    return statusPatch(pod.status, isOurs ? status : withStoredReadiness(pod.status, status))
  }

  /** Reads the Node again. Until it is known whether the node is lost, no pod becomes ready again. */
  async #askForNode(): Promise<void> {
    if (this.#doubt) {
      this.#doubt.isNew = true
      return
    }
    const doubt: { isNew: boolean } = { isNew: true }
    this.#doubt = doubt
    // The loop ends with a successful read or when the agent stops.
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

  /** Statuses that are set in the same turn of the event loop share a batch. */
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
    void this.#send(entry, status, {
      metadata: { uid, ...(opensGate(status) ? { resourceVersion } : {}) },
      status: patch,
    })
  }

  async #send(entry: Entry, status: PodStatus, patch: Patch): Promise<void> {
    const { name = '', namespace = '' } = entry.pod.metadata
    const { uid, resourceVersion } = patch.metadata
    try {
      const pod = await this.#options.client.patch(pods, namespace, name, patch, {
        type: 'strategic',
        subresource: 'status',
      })
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
    const mayPass =
      error instanceof TransportError ||
      isConflict(error) ||
      (error instanceof ApiError && (error.code >= 500 || error.code === 429))
    if (!mayPass) {
      this.#options.logger.error('the API rejected an event', { pod: `${namespace}/${name}`, error })
      return this.#settle(entry)
    }
    this.#dirty.add(uid)
    // A conflict: the watch delivers the changed pod.
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
 * True if the status opens the readiness gate of an in-place update. It is only valid for the version of the pod in
 * which it was generated, because the gate may have been closed again for another update.
 */
const opensGate = ({ conditions }: PodStatus): boolean =>
  conditions?.some(({ type }) => type === inPlaceUpdateReady) === true

/** True if the status must not be sent any more. A newer one will be generated from the present version of the pod. */
const isOutdated = ({ pod, status, basis }: Entry): boolean =>
  status !== undefined && opensGate(status) && basis !== pod.metadata.resourceVersion

const isNewer = (pod: Pod, than: Pod): boolean =>
  compareResourceVersions(pod.metadata.resourceVersion ?? '0', than.metadata.resourceVersion ?? '0') > 0
