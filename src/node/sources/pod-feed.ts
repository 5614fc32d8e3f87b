import type { Pod } from '../../api/generated/types.ts'
import type { Informer, InformerHandler } from '../../client/index.ts'

/** Receives changes of a node's pods. */
interface PodListener {
  /** A pod of this node was added or changed. */
  changed(pod: Pod): void
  removed(pod: Pod): void
}

/** Delivers changes of pods from one shared cache to each node of this process. */
export class PodFeed {
  readonly #informer: Informer<Pod>
  readonly #listeners = new Map<string, PodListener>()
  readonly #removeHandler: () => void

  /** An informer with the pods of several nodes must have the index `node`. */
  constructor(informer: Informer<Pod>) {
    this.#informer = informer
    this.#removeHandler = informer.addHandler(this.#handler())
  }

  get informer(): Informer<Pod> {
    return this.#informer
  }

  /** Subscribes to a node's pods. Present pods are delivered at once. */
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
        // The pod was deleted and created again with the same name while the watch was interrupted.
        if (old.metadata.uid !== pod.metadata.uid) of(old)?.removed(old)
        of(pod)?.changed(pod)
      },
      delete: (pod) => of(pod)?.removed(pod),
    }
  }
}

/** The index that PodFeed requires. */
export const podsByNode = { node: (pod: Pod): string[] => (pod.spec.nodeName ? [pod.spec.nodeName] : []) }
