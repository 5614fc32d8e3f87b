import type { KubeObject } from '../../api/object.ts'
import type { ApiRequest, Identity, Transport, WatchListener } from '../../client/index.ts'

/** Forwards requests one at a time in their order, for requests that no caller waits for. */
export class OneAtATime implements Transport {
  readonly #inner: Transport
  #last: Promise<unknown> = Promise.resolve()

  constructor(inner: Transport) {
    this.#inner = inner
  }

  send<T>(request: ApiRequest): Promise<T> {
    return this.#inTurn(() => this.#inner.send<T>(request))
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    return this.#inner.watch(request, listener)
  }

  /** Requests of all identities share the same queue. */
  as(identity: Identity): Transport {
    const inner = this.#inner.as?.(identity)
    if (!inner) return this
    const inTurn = { send: <T>(request: ApiRequest): Promise<T> => this.#inTurn(() => inner.send<T>(request)) }
    return { ...inTurn, watch: (request, listener) => inner.watch(request, listener), close: () => inner.close() }
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #inTurn<T>(send: () => Promise<T>): Promise<T> {
    const sent = this.#last.then(send)
    this.#last = sent.catch(() => {}) // the caller gets the error
    return sent
  }
}
