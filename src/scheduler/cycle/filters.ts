import type { NodeInfo } from '../cluster/node-info.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import { type FilterPlugin, type NodeFilter, type Rejection, isRejection } from '../plugins/plugin.ts'
import type { World } from '../plugins/world.ts'
import type { Nominations } from '../queue/nominations.ts'

/** The results of all filter plugins for one pod. */
export class Filters {
  readonly pod: PodInfo
  readonly #filters: readonly NodeFilter[]
  readonly #nominations: Nominations
  /** Only these nodes need to be checked. */
  readonly onlyNodes: ReadonlySet<string> | undefined

  private constructor(pod: PodInfo, filters: readonly NodeFilter[], nominations: Nominations) {
    this.pod = pod
    this.#filters = filters
    this.#nominations = nominations
    const limits = filters.flatMap(({ onlyNodes }) => onlyNodes ?? [])
    this.onlyNodes =
      limits.length === 0
        ? undefined
        : new Set([...limits[0]!].filter((name) => limits.every((limit) => limit.has(name))))
  }

  /** Prepares the plugins for a pod. Returns a rejection if no node is possible. */
  static of(
    pod: PodInfo,
    plugins: readonly FilterPlugin[],
    world: World,
    nominations: Nominations,
  ): Filters | Rejection {
    const filters: NodeFilter[] = []
    for (const plugin of plugins) {
      const result = plugin.filter(pod, world)
      if (isRejection(result)) return result
      if (result) filters.push(result)
    }
    return new Filters(pod, filters, nominations)
  }

  /**
   * The reason why the pod cannot run on the node. Undefined if it can. Room reserved for nominated pods counts as
   * used.
   */
  check(node: NodeInfo): Rejection | undefined {
    if (this.#nominations.isEmpty) return this.#ask(node)
    const others = [...this.#nominations.on(node.name).values()].filter(
      ({ uid, priority }) => uid !== this.pod.uid && priority >= this.pod.priority && !node.pods.has(uid),
    )
    if (others.length === 0) return this.#ask(node)
    const crowded = node.copy()
    for (const other of others) this.add(other, crowded)
    const rejection = this.#ask(crowded)
    for (const other of others) this.remove(other, crowded)
    // The pod must fit without the nominated pods as well: they may go elsewhere, and its affinity must not depend on
    // them.
    return rejection ?? this.#ask(node)
  }

  /** Simulates that a pod is on the node. */
  add(pod: PodInfo, node: NodeInfo): void {
    node.add(pod)
    for (const filter of this.#filters) filter.podAdded?.(pod, node)
  }

  /** Simulates that a pod is not on the node. */
  remove(pod: PodInfo, node: NodeInfo): void {
    node.remove(pod)
    for (const filter of this.#filters) filter.podRemoved?.(pod, node)
  }

  /** The reservations that are made when the node is selected. */
  reserve(node: NodeInfo) {
    return this.#filters.flatMap((filter) => filter.reserve?.(node) ?? [])
  }

  #ask(node: NodeInfo): Rejection | undefined {
    const filters = this.#filters
    for (let i = 0; i < filters.length; i++) {
      const rejection = filters[i]!.check(node)
      if (rejection) return rejection
    }
    return undefined
  }
}
