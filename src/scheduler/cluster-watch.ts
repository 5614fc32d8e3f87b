import { deepEqual } from '../api/deep-equal.ts'
import type { Node, Pod } from '../api/generated/types.ts'
import { isPodFinished } from '../api/kinds/pods/pod-availability.ts'
import type { InformerHandler, KubeObject, SharedInformer } from '../client/index.ts'
import type { Caches } from './caches.ts'
import { PodInfo } from './cluster/pod-info.ts'
import type { ClusterEvent } from './queue/unschedulable-pods.ts'
import type { Nominations } from './queue/nominations.ts'
import type { SchedulingQueue } from './queue/scheduling-queue.ts'

/** Applies API events to the cluster and the queue. */
export class ClusterWatch {
  readonly #caches: Caches
  readonly #queue: SchedulingQueue
  readonly #nominations: Nominations
  readonly #schedulerName: string
  readonly #undo: (() => void)[] = []

  constructor(caches: Caches, queue: SchedulingQueue, nominations: Nominations, schedulerName: string) {
    this.#caches = caches
    this.#queue = queue
    this.#nominations = nominations
    this.#schedulerName = schedulerName
  }

  /** Reads the existing objects first. Pods come last, because scheduling them depends on all others. */
  start(): void {
    const { cluster, nodes, namespaces, claims, volumes, classes, csiNodes, csiDrivers, capacities, pods } =
      this.#caches
    this.#follow(nodes, {
      add: (node) => {
        cluster.setNode(node)
        this.#queue.wake({ kind: 'NodeAdd', node })
      },
      update: (before, node) => {
        cluster.setNode(node)
        if (isOtherNode(before, node)) this.#queue.wake({ kind: 'NodeUpdate', before, node })
      },
      delete: (node) => {
        cluster.removeNode(node.metadata.name!)
        this.#queue.wake({ kind: 'NodeDelete', node })
      },
    })
    this.#follow(namespaces, {
      // Affinity terms may select namespaces by labels.
      update: (before, after) => {
        if (!deepEqual(before.metadata.labels, after.metadata.labels)) cluster.matching.clear()
      },
    })
    this.#waking(claims, (claim, before) => ({ kind: 'PersistentVolumeClaim', claim, ...before }))
    this.#waking(volumes, (volume, before) => ({ kind: 'PersistentVolume', volume, ...before }))
    this.#waking(classes, (storageClass, before) => ({ kind: 'StorageClass', storageClass, ...before }))
    this.#waking(csiNodes, (csiNode, before) => ({ kind: 'CSINode', csiNode, ...before }))
    this.#waking(csiDrivers, (driver, before) => ({ kind: 'CSIDriver', driver, ...before }))
    this.#waking(capacities, (capacity, before) => ({ kind: 'CSIStorageCapacity', capacity, ...before }))
    this.#follow(pods, {
      add: (pod) => this.#podAdded(pod),
      update: (before, pod) => this.#podChanged(before, pod),
      delete: (pod) => this.#podGone(pod),
    })
  }

  stop(): void {
    for (const undo of this.#undo.splice(0)) undo()
  }

  #follow<T extends KubeObject>(informer: SharedInformer<T>, handler: InformerHandler<T>): void {
    this.#undo.push(informer.addHandler(handler))
  }

  #waking<T extends KubeObject>(
    informer: SharedInformer<T>,
    eventOf: (object: T, before: { before?: T }) => ClusterEvent,
  ): void {
    this.#follow(informer, {
      add: (object) => this.#queue.wake(eventOf(object, {})),
      update: (before, object) => this.#queue.wake(eventOf(object, { before })),
    })
  }

  #podAdded(pod: Pod): void {
    if (isPodFinished(pod)) return
    if (pod.spec.nodeName) this.#podAssigned(pod)
    else this.#podWaits(pod, undefined)
  }

  #podChanged(before: Pod, pod: Pod): void {
    if (before.metadata.uid !== pod.metadata.uid) {
      this.#podGone(before)
      return this.#podAdded(pod)
    }
    if (isPodFinished(pod)) return this.#podGone(pod)
    if (pod.spec.nodeName) return this.#podAssigned(pod)
    this.#podWaits(pod, before)
  }

  #podGone({ metadata: { uid = '' } }: Pod): void {
    const wasNominated = this.#nominations.nodeOf(uid) !== undefined
    this.#queue.delete(uid)
    this.#nominations.delete(uid)
    const info = this.#caches.cluster.removePod(uid)
    if (info) this.#queue.wake({ kind: 'AssignedPodDelete', pod: info })
    else if (wasNominated) this.#queue.wakeAll()
  }

  #podAssigned(pod: Pod): void {
    const { info, before, wasAssumed } = this.#caches.cluster.setPod(pod)
    this.#queue.delete(info.uid)
    this.#nominations.delete(info.uid)
    if (!before || wasAssumed) this.#queue.wake({ kind: 'AssignedPodAdd', pod: info })
    else if (before !== info) this.#queue.wake({ kind: 'AssignedPodUpdate', before, pod: info })
  }

  #podWaits(pod: Pod, old: Pod | undefined): void {
    const { uid = '' } = pod.metadata
    if ((pod.spec.schedulerName ?? '') !== this.#schedulerName || this.#caches.cluster.has(uid)) return
    const before = this.#queue.get(uid)
    const isSame = before?.follow(pod) ?? false
    const info = isSame ? before! : new PodInfo(pod)
    if (!before) this.#queue.add(info)
    else if (!isSame) this.#queue.update(info, { kind: 'TargetPodUpdate', before, pod: info })
    const { nominatedNodeName = '' } = pod.status ?? {}
    if (nominatedNodeName !== (old?.status?.nominatedNodeName ?? '')) this.#nominations.set(info, nominatedNodeName)
  }
}

/** Reports whether a change of a node can matter to pods. */
const isOtherNode = (before: Node, node: Node): boolean =>
  before.spec?.unschedulable !== node.spec?.unschedulable ||
  !deepEqual(before.metadata.labels, node.metadata.labels) ||
  !deepEqual(before.spec?.taints, node.spec?.taints) ||
  !deepEqual(before.status?.allocatable, node.status?.allocatable)
