import type { Node } from '../../api/generated/types.ts'
import type { Informer } from '../../client/index.ts'

/** Delivers changes of a Node object, written by others, to each node of this process. */
export class NodeFeed {
  readonly #informer: Informer<Node>
  readonly #listeners = new Map<string, (node: Node) => void>()
  readonly #removeHandler: () => void

  constructor(informer: Informer<Node>) {
    this.#informer = informer
    const tell = (node: Node) => this.#listeners.get(node.metadata.name ?? '')?.(node)
    this.#removeHandler = informer.addHandler({ add: tell, update: (_, node) => tell(node) })
  }

  /** Subscribes to a Node. Its present state is delivered at once. */
  subscribe(name: string, listener: (node: Node) => void): () => void {
    this.#listeners.set(name, listener)
    const known = this.#informer.get(name)
    if (known) listener(known)
    return () => {
      if (this.#listeners.get(name) === listener) this.#listeners.delete(name)
    }
  }

  close(): void {
    this.#removeHandler()
  }
}
