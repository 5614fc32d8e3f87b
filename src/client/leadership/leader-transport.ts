import type { KubeObject } from '../../api/object.ts'
import type { Series } from '../../base/metrics.ts'
import type { ApiRequest, Identity, Transport, WatchListener } from '../transport/transport.ts'
import type { Leadership } from './leadership.ts'
import { NotLeaderError } from './not-leader-error.ts'

/**
 * Sends writes only while this process leads, which is checked when each is sent. Before a response is passed on, the
 * clock is compared with the deadline again, so that no process acts on a response after its term. Reads and watches
 * are not restricted.
 */
export class LeaderTransport implements Transport {
  readonly #inner: Transport
  readonly #leadership: () => Leadership | undefined
  readonly #refused: Pick<Series, 'inc'> | undefined

  /** `leadership` is one term, or returns the current one; `refused` counts writes that were not sent. */
  constructor(
    inner: Transport,
    leadership: Leadership | (() => Leadership | undefined),
    refused?: Pick<Series, 'inc'>,
  ) {
    this.#inner = inner
    this.#leadership = typeof leadership === 'function' ? leadership : () => leadership
    this.#refused = refused
  }

  async send<T>(request: ApiRequest): Promise<T> {
    try {
      if (request.method === 'GET') return await this.#inner.send<T>(request)
      return await this.#write<T>(request)
    } finally {
      this.#leadership()?.isLeader()
    }
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    const check = () => this.#leadership()?.isLeader()
    return this.#inner.watch<T>(request, {
      opened: () => {
        check()
        listener.opened()
      },
      event: (event) => {
        check()
        listener.event(event)
      },
      closed: (error) => {
        check()
        listener.closed(error)
      },
    })
  }

  whenKindsChange(fn: () => void): () => void {
    return this.#inner.whenKindsChange?.(fn) ?? (() => {})
  }

  as(identity: Identity): Transport {
    return this.#inner.as ? new LeaderTransport(this.#inner.as(identity), this.#leadership, this.#refused) : this
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #write<T>(request: ApiRequest): Promise<T> {
    const what = `${request.method} ${request.path}`
    const leadership = this.#leadership()
    if (!leadership?.isLeader()) {
      this.#refused?.inc()
      throw new NotLeaderError(`${what} is not sent: this process is not the leader`)
    }
    return leadership.write((signal) => this.#inner.send<T>({ ...request, signal }), request.signal, what)
  }
}
