import type { KubeObject } from '../../api/object.ts'
import type { ApiRequest, Transport, WatchListener } from '../../client/index.ts'

/** Passes on one request after the other, in the order in which they come: for what all nodes of a process have to say and nobody waits for. */
export class OneAtATime implements Transport {
  readonly #inner: Transport
  #last: Promise<unknown> = Promise.resolve()

  constructor(inner: Transport) {
    this.#inner = inner
  }

  send<T>(request: ApiRequest): Promise<T> {
    const sent = this.#last.then(() => this.#inner.send<T>(request))
    this.#last = sent.catch(() => {}) // told to who asked
    return sent
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    return this.#inner.watch(request, listener)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}
