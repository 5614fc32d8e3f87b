import type { QueuedPod } from './scheduling-queue.ts'

const nobody: ReadonlySet<QueuedPod> = new Set()

/** Pods that no node is right for, in the order in which that was found, and by who rejected them: an event concerns only those whom it could help. */
export class UnschedulablePods {
  readonly #byUid = new Map<string, QueuedPod>()
  /** By plugin; '' for those that nobody in particular has rejected. */
  readonly #byPlugin = new Map<string, Set<QueuedPod>>()

  get size(): number {
    return this.#byUid.size
  }

  /** The one that waits longest. */
  get oldest(): QueuedPod | undefined {
    const [oldest] = this.#byUid.values()
    return oldest
  }

  has(uid: string): boolean {
    return this.#byUid.has(uid)
  }

  get(uid: string): QueuedPod | undefined {
    return this.#byUid.get(uid)
  }

  values(): IterableIterator<QueuedPod> {
    return this.#byUid.values()
  }

  /** '' for those that nobody in particular has rejected. */
  rejectedBy(plugin: string): ReadonlySet<QueuedPod> {
    return this.#byPlugin.get(plugin) ?? nobody
  }

  add(queued: QueuedPod): void {
    this.#byUid.set(queued.info.uid, queued)
    for (const plugin of pluginsOf(queued)) {
      const pods = this.#byPlugin.get(plugin)
      if (pods) pods.add(queued)
      else this.#byPlugin.set(plugin, new Set([queued]))
    }
  }

  delete(uid: string): void {
    const queued = this.#byUid.get(uid)
    if (!queued) return
    this.#byUid.delete(uid)
    for (const plugin of pluginsOf(queued)) {
      const pods = this.#byPlugin.get(plugin)
      if (pods?.delete(queued) && pods.size === 0) this.#byPlugin.delete(plugin)
    }
  }
}

const pluginsOf = ({ rejectedBy }: QueuedPod): Iterable<string> => (rejectedBy.size === 0 ? [''] : rejectedBy)
