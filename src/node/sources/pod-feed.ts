import type { Pod } from '../../api/generated/types.ts'
import type { Informer, InformerHandler } from '../../client/index.ts'

/** What a node hears of its pods. */
interface PodListener {
  /** A pod of this node is there, or has changed. */
  changed(pod: Pod): void
  removed(pod: Pod): void
}

/** Tells each of the nodes of a process about its own pods, from one cache that has them all. */
export class PodFeed {
  readonly #informer: Informer<Pod>
  readonly #listeners = new Map<string, PodListener>()
  readonly #removeHandler: () => void

  /** The informer must have an index `node` where it has more than one node's pods. */
  constructor(informer: Informer<Pod>) {
    this.#informer = informer
    this.#removeHandler = informer.addHandler(this.#handler())
  }

  get informer(): Informer<Pod> {
    return this.#informer
  }

  /** From now on; what is known already is told at once. */
  subscribe(node: string, listener: PodListener): () => void {
    this.#listeners.set(node, listener)
    for (const pod of this.#informer.byIndex('node', node)) listener.changed(pod)
    return () => {
      if (this.#listeners.get(node) === listener) this.#listeners.delete(node)
    }
  }

  podsOf(node: string): Pod[] {
    return this.#informer.byIndex('node', node)
  }

  close(): void {
    this.#removeHandler()
  }

  #handler(): InformerHandler<Pod> {
    const of = (pod: Pod) => this.#listeners.get(pod.spec.nodeName ?? '')
    return {
      add: (pod) => of(pod)?.changed(pod),
      update: (old, pod) => {
        if (old === pod) return
        // One was deleted and another made under its name while nobody watched.
        if (old.metadata.uid !== pod.metadata.uid) of(old)?.removed(old)
        of(pod)?.changed(pod)
      },
      delete: (pod) => of(pod)?.removed(pod),
    }
  }
}

/** The index that a feed needs. */
export const podsByNode = { node: (pod: Pod): string[] => (pod.spec.nodeName ? [pod.spec.nodeName] : []) }
