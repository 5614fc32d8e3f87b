import type { KubeObject } from '../../../src/api/object.ts'
import type { Clock } from '../../../src/base/clock.ts'
import { type ApiRequest, type Transport, TransportError, type WatchEvent, type WatchListener } from '../../../src/client/index.ts'

export interface Answered {
  request: ApiRequest
  atMs: number
  error: Error | undefined
}

/** A transport that remembers every write, and can make watches late and requests fail. */
export class RecordedTransport implements Transport {
  readonly writes: Answered[] = []
  /** By plural name of a resource: how late its watch events and bookmarks come. */
  readonly delaysMs = new Map<string, number>()
  /** Called for every write; what it returns takes the place of sending it. */
  intercept: ((request: ApiRequest, send: () => Promise<unknown>) => Promise<unknown>) | undefined
  /** Called for every read; what it returns takes the place of asking. */
  interceptRead: ((request: ApiRequest, send: () => Promise<unknown>) => Promise<unknown>) | undefined
  /** Nothing gets through any more; what is open stays open. */
  isUnreachable = false
  readonly #inner: Transport
  readonly #clock: Clock

  constructor(inner: Transport, clock: Clock) {
    this.#inner = inner
    this.#clock = clock
  }

  async send<T>(request: ApiRequest): Promise<T> {
    if (this.isUnreachable) throw new TransportError('connect ECONNREFUSED', true)
    if (request.method === 'GET') {
      const read = () => this.#inner.send<T>(request)
      return (this.interceptRead ? this.interceptRead(request, read) : read()) as Promise<T>
    }
    const written: Answered = { request, atMs: this.#clock.now(), error: undefined }
    if (!request.path.endsWith('/events')) this.writes.push(written)
    const send = () => this.#inner.send<T>(request)
    try {
      return (await (this.intercept ? this.intercept(request, send) : send())) as T
    } catch (e) {
      written.error = e as Error
      throw e
    }
  }

  whenKindsChange(fn: () => void): () => void {
    return this.#inner.whenKindsChange?.(fn) ?? (() => {})
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    const plural = request.path.slice(request.path.lastIndexOf('/') + 1)
    /** No event overtakes another. */
    let lastAtMs = 0
    const late = (tell: () => void) => {
      const now = this.#clock.now()
      const atMs = Math.max(lastAtMs, now + (this.delaysMs.get(plural) ?? 0))
      if (atMs <= now) return tell()
      lastAtMs = atMs
      this.#clock.after(atMs - now, tell)
    }
    return this.#inner.watch<T>(request, {
      opened: () => listener.opened(),
      event: (event: WatchEvent<T>) => late(() => listener.event(event)),
      closed: (error) => late(() => listener.closed(error)),
    })
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** `POST pods`, `DELETE pods`, in order. */
  summary(): string[] {
    return this.writes.map(({ request: { method, path } }) => {
      const parts = path.split('/').slice(path.startsWith('/api/') ? 3 : 4)
      const [plural, , subresource] = parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts
      return [method, plural, subresource].filter((p) => p).join(' ')
    })
  }

  /** The number of each entry of `summary`. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const line of this.summary()) counts[line] = (counts[line] ?? 0) + 1
    return counts
  }
}
