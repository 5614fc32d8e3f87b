import type { KubeObject } from '../../api/object.ts'
import { type ApiRequest, type Transport, TransportError, type WatchListener } from '../transport/transport.ts'
import type { ProcessClock } from './process-clock.ts'

/**
 * No fault; requests are not sent; requests are sent and never processed; requests are processed but their response is
 * lost.
 */
export type Fault = 'none' | 'unreachable' | 'silent' | 'answers lost'

/** The transport of a simulated process: with faults, and only while the process runs. */
export class FaultyTransport implements Transport {
  readonly #inner: Transport
  readonly #clock: ProcessClock
  readonly #onSend: ((request: ApiRequest) => void) | undefined
  fault: Fault = 'none'
  /** Number of requests that the API is processing. */
  pending = 0

  /** `onSend` is called for each request that reaches the API. */
  constructor(inner: Transport, clock: ProcessClock, onSend?: (request: ApiRequest) => void) {
    this.#inner = inner
    this.#clock = clock
    this.#onSend = onSend
  }

  send<T>(request: ApiRequest): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { signal } = request
      if (signal?.aborted) return reject(signal.reason as Error)
      if (this.fault === 'unreachable') return reject(new TransportError('connect ECONNREFUSED', true))
      const onAbort = () => reject(signal!.reason as Error)
      signal?.addEventListener('abort', onAbort, { once: true })
      if (this.fault === 'silent') return
      const isAnswerLost = this.fault === 'answers lost'
      this.#onSend?.(request)
      this.pending++
      const settle = (fn: () => void) => {
        this.pending--
        signal?.removeEventListener('abort', onAbort)
        this.#clock.whenRunning(isAnswerLost ? () => reject(new TransportError('read ECONNRESET', false)) : fn)
      }
      // The signal only ends the wait: the request was sent.
      this.#inner.send<T>({ ...request, signal: undefined }).then(
        (answer) => settle(() => resolve(answer)),
        (error) => settle(() => reject(error as Error)),
      )
    })
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    if (this.fault !== 'none') {
      this.#clock.after(0, () => listener.closed(new TransportError('connect ECONNREFUSED', true)))
      return () => {}
    }
    return this.#inner.watch<T>(request, {
      opened: () => this.#clock.whenRunning(() => listener.opened()),
      event: (event) => this.#clock.whenRunning(() => this.fault === 'none' && listener.event(event)),
      closed: (error) => this.#clock.whenRunning(() => listener.closed(error)),
    })
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}
