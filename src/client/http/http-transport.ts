import type { KubeObject } from '../../api/object.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { type Random, systemRandom } from '../../base/random.ts'
import type { ClusterAccess } from '../access.ts'
import { type ApiRequest, type Transport, TransportError, type WatchListener } from '../transport.ts'
import { Attempt, type Host } from './attempt.ts'
import { Connections } from './connections.ts'
import { Deadlines } from './deadlines.ts'
import { type Environment, proxyFromEnvironment } from './proxy-choice.ts'
import { WatchAnswer } from './watch-answer.ts'
import { WholeAnswer } from './whole-answer.ts'

export interface HttpTransportOptions {
  clock?: Clock
  random?: Random
  /** How long a request may take, and a watch until it is open. 0: as long as it takes. Default: a minute. */
  requestTimeoutMs?: number
  /** Default: 30,000. */
  connectTimeoutMs?: number
  /** Default: 30,000. */
  pingAfterMs?: number
  /** Default: 15,000. */
  pingTimeoutMs?: number
  /** `component/version`. What comes before the slash is who writes, in managed fields. Default: coxswain. */
  userAgent?: string
  /** Where HTTPS_PROXY and NO_PROXY are looked up. Default: the process's. */
  env?: Environment
  /** Told what the server warns of. */
  onWarning?(text: string): void
}

const closed = () => new TransportError('the transport is closed', true)

/** Reaches an API server over the network. */
export class HttpTransport implements Transport {
  readonly #host: Host
  readonly #clock: Clock
  #isClosed = false

  constructor(access: ClusterAccess, options: HttpTransportOptions = {}) {
    const { clock = systemClock, random = systemRandom, env = process.env, userAgent = `coxswain/client (${process.platform}/${process.arch})` } = options
    const timeoutMs = options.requestTimeoutMs ?? 60_000
    this.#clock = clock
    this.#host = {
      origin: access.server.origin,
      basePath: access.server.pathname.replace(/\/+$/, ''),
      connections: new Connections({
        access,
        proxy: access.proxy ?? proxyFromEnvironment(access.server, env),
        clock,
        random,
        connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
        pingAfterMs: options.pingAfterMs ?? 30_000,
        pingTimeoutMs: options.pingTimeoutMs ?? 15_000,
      }),
      credentials: access.credentials,
      headers: { accept: 'application/json', 'user-agent': userAgent, ...access.headers },
      deadlines: new Deadlines(clock, timeoutMs, (attempt) => attempt.expire(timeoutMs)),
      active: new Set(),
      onWarning: options.onWarning,
    }
  }

  send<T>(request: ApiRequest): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      if (request.signal?.aborted) return reject(request.signal.reason as Error)
      if (this.#isClosed) return reject(closed())
      new Attempt(this.#host, request, false, new WholeAnswer(resolve, reject, this.#clock)).start()
    }) as Promise<T>
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    if (this.#isClosed || request.signal?.aborted) {
      queueMicrotask(() => listener.closed(this.#isClosed ? closed() : undefined))
      return () => {}
    }
    const answer = new WatchAnswer<T>(
      listener,
      this.#clock,
      () => attempt.stopTimer(),
      () => attempt.cancel(),
    )
    const attempt = new Attempt(this.#host, { ...request, query: { ...request.query, watch: 'true' } }, true, answer)
    attempt.start()
    return () => answer.close(undefined)
  }

  /** Ends what is under way: watches without an error, requests with one. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const attempt of this.#host.active) attempt.shutDown()
    await this.#host.connections.close()
  }
}
