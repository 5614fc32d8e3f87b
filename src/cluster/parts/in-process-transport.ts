import { ApiError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import {
  type ApiRequest,
  type Identity,
  type Transport,
  TransportError,
  type WatchListener,
  acceptMetadata,
  onAbort,
} from '../../client/index.ts'
import {
  type ApiServer,
  type InProcessRequest,
  type UserInfo,
  asPartialMetadata,
  callInProcess,
  watchInProcess,
} from '../../server/index.ts'
import { accountUser, nodeUser } from './users.ts'

const userOf = ({ kind, name }: Identity): UserInfo => (kind === 'node' ? nodeUser(name) : accountUser(name))

/**
 * Connects to a server of the same process as `user`: no sockets, no encoding, no copies. Returned objects are shared
 * and frozen.
 */
export class InProcessTransport implements Transport {
  readonly #server: ApiServer
  readonly #user: UserInfo
  readonly #watches = new Set<() => void>()
  readonly #others = new Set<InProcessTransport>()
  #isClosed = false

  constructor(server: ApiServer, user: UserInfo) {
    this.#server = server
    this.#user = user
  }

  async send<T>(request: ApiRequest): Promise<T> {
    const { signal } = request
    signal?.throwIfAborted()
    if (this.#isClosed) throw new TransportError('the transport is closed', true)
    const whole = callInProcess(this.#server, this.#asked(request))
    const answer = (
      request.accept === metadataAlone ? whole.then((object) => metadataOf(object as KubeObject)) : whole
    ) as Promise<T>
    return signal ? untilAborted(answer, signal) : answer
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    if (this.#isClosed || request.signal?.aborted) {
      queueMicrotask(() =>
        listener.closed(this.#isClosed ? new TransportError('the transport is closed', true) : undefined),
      )
      return () => {}
    }
    const end = watchInProcess(this.#server, this.#asked(request), {
      opened: () => listener.opened(),
      event: (type, object) => listener.event({ type, object: object as T }),
      closed: (error) => {
        this.#watches.delete(end)
        request.signal?.removeEventListener('abort', end)
        listener.closed(
          error === undefined || error instanceof ApiError
            ? error
            : new TransportError(error.message, false, { cause: error }),
        )
      },
    })
    this.#watches.add(end)
    request.signal?.addEventListener('abort', end, { once: true })
    return end
  }

  whenKindsChange(fn: () => void): () => void {
    const stops = [this.#server.parts.registry.listen(fn), this.#server.aggregator.listen(fn)]
    return () => stops.forEach((stop) => stop())
  }

  /** Returns a transport that is closed with this one. */
  as(identity: Identity): InProcessTransport {
    const other = new InProcessTransport(this.#server, userOf(identity))
    this.#others.add(other)
    return other
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const end of this.#watches) end()
    for (const other of this.#others) await other.close()
  }

  #asked(request: ApiRequest): InProcessRequest {
    return { ...request, user: this.#user }
  }
}

const metadataAlone = acceptMetadata('PartialObjectMetadata')

/** Returns only the metadata, as over HTTP, so that callers do not rely on more. */
const metadataOf = (answer: KubeObject): KubeObject =>
  answer.kind === 'Status' ? answer : asPartialMetadata(answer, 'v1')

/** Rejects on abort, like a disconnected client: the request may still take effect. */
function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason as Error))
    answer.then(resolve, reject).finally(forget)
  })
}
