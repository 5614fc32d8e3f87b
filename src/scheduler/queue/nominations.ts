import type { PodInfo } from '../cluster/pod-info.ts'

const none: ReadonlyMap<string, PodInfo> = new Map()

/** Pods that are nominated for a node on which room is being made. Less important pods do not use that room. */
export class Nominations {
  readonly #byNode = new Map<string, Map<string, PodInfo>>()
  readonly #nodes = new Map<string, string>()

  get isEmpty(): boolean {
    return this.#nodes.size === 0
  }

  /** By UID. */
  on(node: string): ReadonlyMap<string, PodInfo> {
    return this.#byNode.get(node) ?? none
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid)
  }

  /** Nominates the pod for this node only. Empty for none. */
  set(pod: PodInfo, node: string): void {
    this.delete(pod.uid)
    if (!node) return
    this.#nodes.set(pod.uid, node)
    const pods = this.#byNode.get(node)
    if (pods) pods.set(pod.uid, pod)
    else this.#byNode.set(node, new Map([[pod.uid, pod]]))
  }

  delete(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node === undefined) return
    this.#nodes.delete(uid)
    const pods = this.#byNode.get(node)
    if (pods?.delete(uid) && pods.size === 0) this.#byNode.delete(node)
  }
}
