import type { KubeObject } from '../../api/object.ts'
import { type Clock, steadyOf, systemClock } from '../../base/clock.ts'
import { type Random, systemRandom } from '../../base/random.ts'
import type { ClusterAccess } from '../transport/access.ts'
import { type ApiRequest, type Transport, TransportError, type WatchListener } from '../transport/transport.ts'
import { Attempt } from './attempt.ts'
import { Connections } from './connections.ts'
import { Deadlines } from './deadlines.ts'
import { Hosts, isOfServer } from './hosts.ts'
import { type Environment, proxyFromEnvironment } from './proxy-choice.ts'
import { WatchAnswer } from './watch-answer.ts'
import { WholeAnswer } from './whole-answer.ts'

export interface HttpTransportOptions {
  clock?: Clock
  random?: Random
  /** Timeout of a request, and of a watch until it is open; 0 means none. Default: one minute. */
  requestTimeoutMs?: number
  /** Default: 30,000. */
  connectTimeoutMs?: number
  /** Default: 30,000. */
  pingAfterMs?: number
  /** Default: 15,000. */
  pingTimeoutMs?: number
  /** `component/version`. The component becomes the default field manager. Default: coxswain. */
  userAgent?: string
  /** Environment with HTTPS_PROXY and NO_PROXY. Default: that of the process. */
  env?: Environment
  /** Called with each warning of the server. */
  onWarning?(text: string): void
}

const closed = () => new TransportError('the transport is closed', true)

/**
 * Connects to an API server over the network, or to another server of the same cluster while that one does not answer.
 */
export class HttpTransport implements Transport {
  readonly #hosts: Hosts
  readonly #active = new Set<Attempt>()
  readonly #clock: Clock
  #isClosed = false

  constructor(access: ClusterAccess, options: HttpTransportOptions = {}) {
    const {
      clock = systemClock,
      random = systemRandom,
      env = process.env,
      userAgent = `coxswain/client (${process.platform}/${process.arch})`,
    } = options
    const timeoutMs = options.requestTimeoutMs ?? 60_000
    // Time limits hold although the clock of the machine is set.
    const timers = steadyOf(clock)
    this.#clock = clock
    // With other servers available, an unresponsive one is left quickly: a leader must renew its lease within ten
    // seconds.
    const [patienceMs, pingTimeoutMs] = access.otherServers ? [2000, 2000] : [30_000, 15_000]
    const common = {
      credentials: access.credentials,
      headers: { accept: 'application/json', 'user-agent': userAgent, ...access.headers },
      deadlines: new Deadlines<Attempt>(timers, timeoutMs, (attempt) => attempt.expire(timeoutMs)),
      active: this.#active,
      onWarning: options.onWarning,
    }
    this.#hosts = new Hosts(access, (server) => ({
      ...common,
      origin: server.origin,
      basePath: server.pathname.replace(/\/+$/, ''),
      connections: new Connections({
        access: { ...access, server },
        proxy: access.proxy ?? proxyFromEnvironment(server, env),
        clock: timers,
        random,
        connectTimeoutMs: options.connectTimeoutMs ?? patienceMs,
        pingAfterMs: options.pingAfterMs ?? patienceMs,
        pingTimeoutMs: options.pingTimeoutMs ?? pingTimeoutMs,
      }),
    }))
  }

  send<T>(request: ApiRequest): Promise<T> {
    return new Promise<unknown>((resolve, reject) =>
      this.#try(request, this.#hosts.count, resolve, reject),
    ) as Promise<T>
  }

  /** Sends a request. If it was certainly not received, the other servers are tried in turn, each once. */
  #try(
    request: ApiRequest,
    servers: number,
    resolve: (value: unknown) => void,
    reject: (reason: unknown) => void,
  ): void {
    if (request.signal?.aborted) return reject(request.signal.reason)
    if (this.#isClosed) return reject(closed())
    const host = this.#hosts.current
    const failed = (error: unknown) => {
      if (isOfServer(error)) this.#hosts.leave(host)
      if (servers > 1 && error instanceof TransportError && error.isUnsent)
        this.#try(request, servers - 1, resolve, reject)
      else reject(error)
    }
    new Attempt(host, request, false, new WholeAnswer(resolve, failed, this.#clock)).start()
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    if (this.#isClosed || request.signal?.aborted) {
      queueMicrotask(() => listener.closed(this.#isClosed ? closed() : undefined))
      return () => {}
    }
    const host = this.#hosts.current
    const heard: WatchListener<T> = {
      opened: () => listener.opened(),
      event: (event) => listener.event(event),
      closed: (error) => {
        if (error && isOfServer(error)) this.#hosts.leave(host)
        listener.closed(error)
      },
    }
    const answer = new WatchAnswer<T>(
      heard,
      this.#clock,
      () => attempt.stopTimer(),
      () => attempt.cancel(),
    )
    const attempt = new Attempt(host, { ...request, query: { ...request.query, watch: 'true' } }, true, answer)
    attempt.start()
    return () => answer.close(undefined)
  }

  /** Closes the transport: watches end without an error, requests with one. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const attempt of this.#active) attempt.shutDown()
    await this.#hosts.close()
  }
}
