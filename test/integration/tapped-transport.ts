import type { KubeObject } from '../../src/api/object.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { ApiRequest, Transport, WatchEvent, WatchListener } from '../../src/client/index.ts'
import { TransportError } from '../../src/client/index.ts'

/** A transport in which things go wrong as a test wants them to. */
export class TappedTransport implements Transport {
  readonly #inner: () => Transport
  readonly #clock: Clock
  readonly #open = new Set<() => void>()
  readonly requests: ApiRequest[] = []
  /** Nothing gets through while this is set. */
  isDown = false
  /** Every event of a watch comes so much later. */
  delayMs = 0
  /** Events that are lost on the way, on every watch that is opened from now on. */
  loses: (event: WatchEvent) => boolean = () => false
  /** May answer a request itself, change it, or fail it. */
  intercept: (request: ApiRequest) => ApiRequest | Promise<ApiRequest> = (request) => request

  constructor(inner: () => Transport, clock: Clock) {
    this.#inner = inner
    this.#clock = clock
  }

  async send<T>(request: ApiRequest): Promise<T> {
    this.requests.push(request)
    if (this.isDown) throw new TransportError('connection refused', true)
    return this.#inner().send<T>(await this.intercept(request))
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    this.requests.push(request)
    let isOver = false
    let stop = () => {}
    const close = (error: Error | undefined) => {
      if (isOver) return
      isOver = true
      this.#open.delete(cut)
      stop()
      listener.closed(error)
    }
    const cut = () => close(new TransportError('connection reset', false))
    this.#open.add(cut)
    const later = (fn: () => void) => {
      const run = () => {
        if (!isOver) fn()
      }
      if (this.delayMs) this.#clock.after(this.delayMs, run)
      else run()
    }
    const begin = (asked: ApiRequest) => {
      if (isOver) return
      if (this.isDown) return close(new TransportError('connection refused', true))
      const { loses } = this
      stop = this.#inner().watch<T>(asked, {
        opened: () => later(() => listener.opened()),
        event: (event) => {
          if (!loses(event)) later(() => listener.event(event))
        },
        closed: (error) => later(() => close(error)),
      })
    }
    void Promise.resolve()
      .then(() => this.intercept(request))
      .then(begin, close)
    return () => close(undefined)
  }

  /** Breaks all connections, and lets nothing through until `isDown` is taken back. */
  goDown(): void {
    this.isDown = true
    for (const cut of this.#open) cut()
  }

  async close(): Promise<void> {
    await this.#inner().close()
  }
}
