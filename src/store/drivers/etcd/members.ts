import type { Clock } from '../../../base/clock.ts'
import { type CallOptions, Channel, type Decoded, type Encodable, type MessageFields, type Method, RpcError, type TlsOptions, parseAddress } from '../../../grpc/index.ts'
import { isTrouble } from './errors.ts'

export interface MembersOptions {
  /** Client URLs, such as `https://10.0.0.1:2379`. */
  servers: readonly string[]
  tls?: TlsOptions | undefined
  clock: Clock
  /** A call that takes longer than this is given up, and tried with another member where that is safe. */
  callTimeoutMs: number
}

/** etcd allows a ping every 5 seconds. */
const heartbeat = { pingAfterMs: 6000, pingTimeoutMs: 3000 }
/** Responses of a watch that has fallen behind are large. */
const maxMessageBytes = 512 << 20
/** Between attempts of a call that is repeated. */
const firstPauseMs = 20
const longestPauseMs = 500

/** The members of an etcd cluster. Calls go to one of them for as long as it answers. */
export class Members {
  readonly #options: MembersOptions
  readonly #channels: readonly Channel[]
  #current = 0

  constructor(options: MembersOptions) {
    const { servers, tls, clock } = options
    if (servers.length === 0) throw new Error('no etcd server is given')
    this.#options = options
    this.#channels = servers.map((server) => new Channel({ address: parseAddress(server, tls), clock, heartbeat, maxMessageBytes, connectTimeoutMs: 2000 }))
  }

  get size(): number {
    return this.#channels.length
  }

  /** The member that calls go to. */
  get current(): Channel {
    return this.#channels[this.#current]!
  }

  /** Takes the next member, unless somebody has left `failed` already. */
  leave(failed: Channel): void {
    if (this.current === failed) this.#current = (this.#current + 1) % this.#channels.length
  }

  /** One attempt, with the current member. A member that does not answer in time loses its connection, and all that goes over it. */
  async once<Q extends MessageFields, A extends MessageFields>(method: Method<Q, A>, request: Encodable<Q>, options: CallOptions = {}): Promise<Decoded<A>> {
    const channel = this.current
    try {
      return await channel.call(method, request, { timeoutMs: this.#options.callTimeoutMs, ...options })
    } catch (e) {
      if (!(e instanceof RpcError) || !isTrouble(e)) throw e
      this.leave(channel)
      if (e.code === 'DeadlineExceeded') channel.disconnect(e)
      throw e
    }
  }

  /** Repeats a call that changes nothing until a member answers or the time is over. */
  async read<Q extends MessageFields, A extends MessageFields>(method: Method<Q, A>, request: Encodable<Q>, budgetMs = this.#options.callTimeoutMs * 2): Promise<Decoded<A>> {
    const attempts = new Attempts(this.#options.clock, budgetMs)
    for (;;) {
      try {
        return await this.once(method, request)
      } catch (e) {
        if (!(e instanceof RpcError) || !isTrouble(e) || !(await attempts.next())) throw e
      }
    }
  }

  close(): void {
    for (const channel of this.#channels) channel.close()
  }
}


/** Spaces attempts out, within a budget of time. */
export class Attempts {
  readonly #clock: Clock
  readonly #endMs: number
  #made = 0

  constructor(clock: Clock, budgetMs: number) {
    this.#clock = clock
    this.#endMs = clock.now() + budgetMs
  }

  /** Resolves to true when another attempt may be made. The first comes at once: another member may be well. */
  async next(): Promise<boolean> {
    const leftMs = this.#endMs - this.#clock.now()
    if (leftMs <= 0) return false
    const pauseMs = this.#made === 0 ? 0 : Math.min(leftMs, longestPauseMs, firstPauseMs * 2 ** this.#made)
    this.#made++
    if (pauseMs > 0) await new Promise<void>((resolve) => void this.#clock.after(pauseMs, resolve))
    return true
  }
}
