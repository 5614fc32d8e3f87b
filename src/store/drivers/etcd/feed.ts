import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import type { CallReceiver, Channel, RpcError } from '../../../grpc/index.ts'
import { CompactedError, StoreClosedError, StoreUnavailableError } from '../../store.ts'
import type { Members } from './members.ts'
import { type EtcdEvent, type EtcdWatchResponse, etcdMethods } from './messages.ts'

export interface FeedOptions {
  members: Members
  clock: Clock
  logger: Logger
  /** The watched keys: from `key` up to but not including `rangeEnd`. */
  range: { key: Buffer; rangeEnd: Buffer }
  /** Events after this revision are delivered. */
  from: number
  /**
   * Updates a watched key, so that an event reports the current revision. Undefined if this etcd has reliable progress
   * requests.
   */
  fence: (() => Promise<void>) | undefined
  /** The events of one response, in order. */
  onEvents(events: readonly EtcdEvent[], revision: number): void
  /** Everything up to `revision` has been delivered. */
  onProgress(revision: number): void
  /** Called once, when the feed cannot continue. */
  onEnd(why: Error): void
}

type WatchCall = ReturnType<typeof openWatch>

type State =
  | { kind: 'connecting' }
  | { kind: 'following'; channel: Channel; call: WatchCall }
  | { kind: 'ended'; why: Error }

interface Waiter {
  revision: number
  /** When the waiter gives up. */
  endMs: number
  resolve(): void
  reject(why: Error): void
}

/** Delay before the first new watch after one was lost. It doubles after each watch that delivered nothing. */
const firstPauseMs = 10
const longestPauseMs = 1000
/** Wait for a revision before requesting progress of the watch, and before treating the watch as stuck. */
const askAfterMs = 20
const askEveryMs = 100
const stuckAfterMs = 1500

/** The only watch of the stored keys. If it is lost, it continues with another member, without a gap. */
export class Feed {
  readonly #options: FeedOptions
  #state: State = { kind: 'connecting' }
  #revision: number
  #failures = 0
  readonly #waiters = new Set<Waiter>()
  #cancelAsking: (() => void) | undefined
  #isFencing = false
  /** True from the loss of a watch until another one answers. */
  #isLost = false

  constructor(options: FeedOptions) {
    this.#options = options
    this.#revision = options.from
  }

  /** Every event up to this revision has been delivered. */
  get revision(): number {
    return this.#revision
  }

  start(): void {
    this.#connect()
  }

  /**
   * Resolves once every event up to `revision`, which must exist, has been delivered. Rejects if the feed ends first,
   * and with StoreUnavailableError after the time limit.
   */
  async waitUntilSeen(revision: number, limitMs: number): Promise<void> {
    if (this.#revision >= revision) return
    if (this.#state.kind === 'ended') throw this.#state.why
    await new Promise<void>((resolve, reject) => {
      this.#waiters.add({ revision, endMs: this.#options.clock.now() + limitMs, resolve, reject })
      this.#askLater(askAfterMs, 0)
    })
  }

  close(): void {
    this.#end(new StoreClosedError())
  }

  /** Reconnects to another member. */
  #reconnect(): void {
    const state = this.#state
    if (state.kind !== 'following') return
    const { members, logger } = this.#options
    logger.warn('the watch of etcd is stuck', { member: members.urlOf(state.channel), revision: this.#revision })
    this.#isLost = true
    this.#state = { kind: 'connecting' }
    state.call.cancel()
    members.leave(state.channel)
    this.#connect()
  }

  #connect(): void {
    const { members, range } = this.#options
    const channel = members.current
    const call: WatchCall = openWatch(channel, {
      message: (response) => {
        if (this.#isFollowing(call)) this.#take(response)
      },
      closed: (error) => {
        if (this.#isFollowing(call)) this.#lost(channel, error)
      },
    })
    this.#state = { kind: 'following', channel, call: call }
    call.send({ create: { ...range, startRevision: this.#revision + 1, prevKv: true, progressNotify: true } })
  }

  #isFollowing(call: unknown): boolean {
    return this.#state.kind === 'following' && this.#state.call === call
  }

  #take(response: EtcdWatchResponse): void {
    if (response.canceled) return this.#canceled(response)
    this.#found()
    if (response.created) return
    if (response.events.length > 0) {
      this.#failures = 0
      const events = response.events.filter(({ kv }) => kv!.modRevision > this.#revision)
      const last = events.at(-1)
      if (!last) return
      this.#revision = last.kv!.modRevision
      this.#options.onEvents(events, this.#revision)
      this.#wake()
    } else if (!this.#options.fence) this.#progressed(response.header?.revision ?? 0)
  }

  #progressed(revision: number): void {
    this.#failures = 0
    if (revision <= this.#revision) return
    this.#revision = revision
    this.#options.onProgress(revision)
    this.#wake()
  }

  #canceled({ compactRevision, cancelReason }: EtcdWatchResponse): void {
    if (compactRevision > 0) return this.#end(new CompactedError(compactRevision))
    const state = this.#state
    if (state.kind === 'following') this.#lost(state.channel, new Error(cancelReason))
  }

  #found(): void {
    if (!this.#isLost || this.#state.kind !== 'following') return
    const { members, logger } = this.#options
    this.#isLost = false
    logger.info('the watch of etcd continues', {
      member: members.urlOf(this.#state.channel),
      revision: this.#revision,
    })
  }

  #lost(channel: Channel, error: RpcError | Error | undefined): void {
    const { members, clock, logger } = this.#options
    // Further attempts fail for the same reason, mostly.
    if (!this.#isLost)
      logger.warn('the watch of etcd was lost', { member: members.urlOf(channel), error: error?.message })
    this.#isLost = true
    this.#state = { kind: 'connecting' }
    members.leave(channel)
    const pauseMs = this.#failures === 0 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures)
    this.#failures++
    clock.after(pauseMs, () => {
      if (this.#state.kind === 'connecting') this.#connect()
    })
  }

  #wake(): void {
    for (const waiter of Array.from(this.#waiters)) {
      if (waiter.revision > this.#revision) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
    this.#stopAskingIfIdle()
  }

  #giveUpLate(): void {
    const nowMs = this.#options.clock.now()
    for (const waiter of Array.from(this.#waiters)) {
      if (waiter.endMs > nowMs) continue
      this.#waiters.delete(waiter)
      const { revision } = waiter
      waiter.reject(new StoreUnavailableError(`the watch of etcd has not delivered revision ${revision} in time`))
    }
    this.#stopAskingIfIdle()
  }

  #stopAskingIfIdle(): void {
    if (this.#waiters.size > 0) return
    this.#cancelAsking?.()
    this.#cancelAsking = undefined
  }

  #askLater(afterMs: number, waitedMs: number): void {
    this.#cancelAsking ??= this.#options.clock.after(afterMs, () => {
      this.#cancelAsking = undefined
      this.#giveUpLate()
      if (this.#waiters.size === 0) return
      const waited = waitedMs + afterMs
      if (waited >= stuckAfterMs) {
        this.#reconnect()
        return this.#askLater(askEveryMs, 0)
      }
      this.#ask()
      this.#askLater(askEveryMs, waited)
    })
  }

  /** Requests the progress of the watch. */
  #ask(): void {
    const { fence } = this.#options
    if (!fence) {
      if (this.#state.kind === 'following') this.#state.call.send({ progress: {} })
      return
    }
    if (this.#isFencing) return
    this.#isFencing = true
    // The event wakes the waiters. If none comes, they retry.
    fence()
      .catch(() => undefined)
      .finally(() => (this.#isFencing = false))
  }

  #end(why: Error): void {
    const state = this.#state
    if (state.kind === 'ended') return
    this.#state = { kind: 'ended', why }
    if (state.kind === 'following') state.call.cancel()
    this.#cancelAsking?.()
    for (const waiter of this.#waiters) waiter.reject(why)
    this.#waiters.clear()
    this.#options.onEnd(why)
  }
}

/** Opens a watch that a member ends when it loses its leader; it would stay silent otherwise. */
function openWatch(channel: Channel, receiver: CallReceiver<EtcdWatchResponse>) {
  return channel.open(etcdMethods.watch, receiver, { metadata: { hasleader: 'true' } })
}
