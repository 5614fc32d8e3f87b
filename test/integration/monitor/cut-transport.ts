import type { KubeObject } from '../../../src/api/object.ts'
import { type ApiRequest, type Transport, TransportError, type WatchListener } from '../../../src/client/index.ts'

/** A way to the API that can be cut and mended. */
export class CutTransport implements Transport {
  readonly #inner: Transport
  readonly #watches = new Set<() => void>()
  #isCut = false
  /** Paths that were listed or watched, each time. */
  readonly asked: string[] = []

  constructor(inner: Transport) {
    this.#inner = inner
  }

  cut(): void {
    this.#isCut = true
    for (const end of this.#watches) end()
  }

  mend(): void {
    this.#isCut = false
  }

  async send<T>(request: ApiRequest): Promise<T> {
    if (this.#isCut) throw new TransportError('connect ECONNREFUSED', true)
    this.asked.push(`${request.method} ${request.path}`)
    return this.#inner.send<T>(request)
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    const refused = new TransportError('connect ECONNREFUSED', true)
    if (this.#isCut) {
      queueMicrotask(() => listener.closed(refused))
      return () => {}
    }
    this.asked.push(`WATCH ${request.path}`)
    const endInner = this.#inner.watch<T>(request, { ...listener, opened: () => listener.opened(), event: (event) => listener.event(event), closed: (error) => listener.closed(error) })
    const end = () => {
      this.#watches.delete(end)
      endInner()
      if (this.#isCut) listener.closed(refused)
    }
    this.#watches.add(end)
    return end
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}
