import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../api/generated/types.ts'
import type { PodInfo } from '../cluster/pod-info.ts'

/** An event that may make pods schedulable. Without `before`, the object is new. */
export type ClusterEvent =
  | { kind: 'NodeAdd'; node: Node }
  | { kind: 'NodeUpdate'; before: Node; node: Node }
  | { kind: 'NodeDelete'; node: Node }
  /** A pod was bound. */
  | { kind: 'AssignedPodAdd'; pod: PodInfo }
  | { kind: 'AssignedPodUpdate'; before: PodInfo; pod: PodInfo }
  | { kind: 'AssignedPodDelete'; pod: PodInfo }
  /** The waiting pod itself. */
  | { kind: 'TargetPodUpdate'; before: PodInfo; pod: PodInfo }
  | { kind: 'PersistentVolumeClaim'; before?: PersistentVolumeClaim; claim: PersistentVolumeClaim }
  | { kind: 'PersistentVolume'; before?: PersistentVolume; volume: PersistentVolume }
  | { kind: 'StorageClass'; before?: StorageClass; storageClass: StorageClass }
  | { kind: 'CSINode'; before?: CSINode; csiNode: CSINode }
  | { kind: 'CSIDriver'; before?: CSIDriver; driver: CSIDriver }
  | { kind: 'CSIStorageCapacity'; before?: CSIStorageCapacity; capacity: CSIStorageCapacity }

export type EventKind = ClusterEvent['kind']

/** A pod that waits for a node. */
export interface QueuedPod {
  info: PodInfo
  /** The number of attempts. */
  attempts: number
  /** The time at which it was first seen. */
  addedMs: number
  /** The start of its wait. Among equal priorities, the longest wait comes first. */
  sinceMs: number
  /** The end of its back-off, which is skipped if no other pod waits. */
  backoffUntilMs: number
  /** True after an error that the pod did not cause, such as an unavailable API: the back-off is then never skipped. */
  hasErred: boolean
  /** The plugins that rejected all nodes. Empty if any event may help. */
  rejectedBy: ReadonlySet<string>
  order: number
}

const nobody: ReadonlySet<QueuedPod> = new Set()

/**
 * Unschedulable pods in order of arrival, and by the plugins that rejected them, so that an event only reaches those
 * that it may help.
 */
export class UnschedulablePods {
  readonly #byUid = new Map<string, QueuedPod>()
  /** By plugin. Empty for pods that no specific plugin rejected. */
  readonly #byPlugin = new Map<string, Set<QueuedPod>>()

  get size(): number {
    return this.#byUid.size
  }

  /** The pod that waits longest. */
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

  /** Empty for pods that no specific plugin rejected. */
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
