import type { Clock } from '../../../base/clock.ts'
import {
  type CallOptions,
  Channel,
  type Decoded,
  type Encodable,
  type MessageFields,
  type Method,
  RpcError,
  type TlsSource,
  parseAddress,
} from '../../../grpc/index.ts'
import { isTrouble } from './errors.ts'
import { etcdMethods } from './messages.ts'

export interface MembersOptions {
  /** Client URLs, such as `https://10.0.0.1:2379`. */
  servers: readonly string[]
  tls?: TlsSource | undefined
  clock: Clock
  /** Time limit of a call. After it, the call is retried with another member where that is safe. */
  callTimeoutMs: number
}

/** etcd allows a ping every 5 seconds. */
const heartbeat = { pingAfterMs: 6000, pingTimeoutMs: 3000 }
/** Responses of a watch that has fallen behind are large. */
const maxMessageBytes = 512 << 20
/** Initial delay between attempts of a repeated call. */
const firstPauseMs = 20
const longestPauseMs = 500

/** The members of an etcd cluster. Calls go to one member until it fails to answer. */
export class Members {
  readonly #options: MembersOptions
  readonly #channels: readonly Channel[]
  #current = 0
  /** When a call failed for the first time after the last answer. */
  #silentSinceMs: number | undefined

  constructor(options: MembersOptions) {
    const { servers, tls, clock } = options
    if (servers.length === 0) throw new Error('no etcd server is specified')
    this.#options = options
    this.#channels = servers.map(
      (server) =>
        new Channel({ address: parseAddress(server, tls), clock, heartbeat, maxMessageBytes, connectTimeoutMs: 2000 }),
    )
  }

  get size(): number {
    return this.#channels.length
  }

  /** The member that receives calls. */
  get current(): Channel {
    return this.#channels[this.#current]!
  }

  /** The URL of a member. */
  urlOf(channel: Channel): string {
    return this.#options.servers[this.#channels.indexOf(channel)]!
  }

  /** How long no member has answered a call that takes a quorum; 0 if the last one was answered. */
  get silenceMs(): number {
    return this.#silentSinceMs === undefined ? 0 : this.#options.clock.now() - this.#silentSinceMs
  }

  /** Switches to the next member, unless another caller has already left `failed`. */
  leave(failed: Channel): void {
    if (this.current === failed) this.#current = (this.#current + 1) % this.#channels.length
  }

  /** The version of each member; empty if it does not answer in time. */
  versions(): Promise<string[]> {
    const { callTimeoutMs: timeoutMs } = this.#options
    const ask = (channel: Channel) =>
      channel.call(etcdMethods.status, {}, { timeoutMs }).then(
        ({ version }) => version,
        () => '',
      )
    return Promise.all(this.#channels.map(ask))
  }

  /**
   * Sends a call once to the current member. A member that misses the time limit loses its connection and every call on
   * it, unless `keepsConnection` is set.
   */
  async once<Q extends MessageFields, A extends MessageFields>(
    method: Method<Q, A>,
    request: Encodable<Q>,
    { keepsConnection = false, ...options }: CallOptions & { keepsConnection?: boolean } = {},
  ): Promise<Decoded<A>> {
    const channel = this.current
    const { callTimeoutMs: timeoutMs, clock } = this.#options
    try {
      const answer = await channel.call(method, request, { timeoutMs, ...options })
      // A member reports its status without a quorum.
      if (method.path !== etcdMethods.status.path) this.#silentSinceMs = undefined
      return answer
    } catch (e) {
      if (!(e instanceof RpcError) || !isTrouble(e)) throw e
      this.#silentSinceMs ??= clock.now()
      const isLate = e.code === 'DeadlineExceeded'
      if (isLate && keepsConnection) throw e
      this.leave(channel)
      if (isLate) channel.disconnect(e)
      throw e
    }
  }

  /** Repeats a read-only call until a member answers or the time limit passes. */
  async read<Q extends MessageFields, A extends MessageFields>(
    method: Method<Q, A>,
    request: Encodable<Q>,
    budgetMs = this.#options.callTimeoutMs * 2,
    options: Parameters<Members['once']>[2] = {},
  ): Promise<Decoded<A>> {
    const attempts = new Attempts(this.#options.clock, budgetMs)
    for (;;) {
      try {
        return await this.once(method, request, options)
      } catch (e) {
        if (!(e instanceof RpcError) || !isTrouble(e) || !(await attempts.next())) throw e
      }
    }
  }

  /**
   * Reads what may take twice as long as other calls. A time-out is not repeated, and does not end other calls: the
   * answer may be too large for a slow link.
   */
  readLarge<Q extends MessageFields, A extends MessageFields>(
    method: Method<Q, A>,
    request: Encodable<Q>,
  ): Promise<Decoded<A>> {
    const timeoutMs = this.#options.callTimeoutMs * 2
    return this.read(method, request, timeoutMs, { timeoutMs, keepsConnection: true })
  }

  close(): void {
    for (const channel of this.#channels) channel.close()
  }
}

/** Delays between attempts, within a time limit of a clock whose time never goes back. */
export class Attempts {
  readonly #clock: Clock
  readonly #endMs: number
  #made = 0

  constructor(clock: Clock, budgetMs: number) {
    this.#clock = clock
    this.#endMs = clock.now() + budgetMs
  }

  get leftMs(): number {
    return Math.max(0, this.#endMs - this.#clock.now())
  }

  /**
   * Resolves to true when another attempt may be made. The first retry is immediate, because another member may be
   * healthy.
   */
  async next(): Promise<boolean> {
    const { leftMs } = this
    if (leftMs === 0) return false
    const pauseMs = this.#made === 0 ? 0 : Math.min(leftMs, longestPauseMs, firstPauseMs * 2 ** this.#made)
    this.#made++
    if (pauseMs > 0) await new Promise<void>((resolve) => void this.#clock.after(pauseMs, resolve))
    return true
  }
}
