import type { PodInfo } from '../cluster/pod-info.ts'

const none: ReadonlyMap<string, PodInfo> = new Map()

/** Pods that wait for room which is being made for them, by node. Others leave that room to them, unless they are more important. */
export class Nominations {
  readonly #byNode = new Map<string, Map<string, PodInfo>>()
  readonly #nodes = new Map<string, string>()

  get isEmpty(): boolean {
    return this.#nodes.size === 0
  }

  /** By uid. */
  on(node: string): ReadonlyMap<string, PodInfo> {
    return this.#byNode.get(node) ?? none
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid)
  }

  /** The pod is meant for this node, and for no other; '' for none. */
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
