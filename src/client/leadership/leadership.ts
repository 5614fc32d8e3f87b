import { ApiError } from '../../api/errors.ts'
import type { Clock } from '../../base/clock.ts'
import { type LinkedAbort, linkAbort } from '../transport/linked-abort.ts'
import { TransportError } from '../transport/transport.ts'
import { NotLeaderError } from './not-leader-error.ts'

/** Leading; stopping, with pending writes; over. */
type State = 'leading' | 'stopping' | 'over'

export interface LeadershipOptions {
  clock: Clock
  /** Time after sending a renewal for which this process may act on it. */
  renewDeadlineMs: number
  /**
   * Time for which a write without a response may still arrive. Default: 5 s, the time between the usual deadline and
   * the expiry of a lease.
   */
  doubtMs?: number
  /** Time at which the write that acquired the lease was sent. */
  sentAtMs: number
  /** Called with the resource version of every write. */
  onWritten(resourceVersion: string): void
  /** Called once when leadership is lost, after the signal was aborted. */
  onLost(reason: Error): void
}

/**
 * One term of leadership, which fences writes. Each check compares the clock with the deadline, so a process that was
 * paused finds its term over before it can act. A term that is over stays over; the next one is another object.
 */
export class Leadership {
  /**
   * Aborted when this process must stop acting as leader. Reading `aborted` first compares the clock with the deadline.
   */
  readonly signal: AbortSignal
  readonly #options: LeadershipOptions
  readonly #abort = new AbortController()
  #state: State = 'leading'
  #renewedAtMs: number
  #cancelTimer: () => void = () => {}
  /** Pending writes. */
  readonly #writes = new Set<LinkedAbort>()
  /** Abandoned writes that may still reach the server. */
  readonly #doubts = new Set<Promise<void>>()
  #onIdle: (() => void) | undefined

  constructor(options: LeadershipOptions) {
    this.#options = options
    this.#renewedAtMs = options.sentAtMs
    this.signal = tellingTheTruth(this.#abort.signal, () => this.isLeader())
    this.#setTimer()
  }

  /** Returns true if this process may act as leader now. */
  isLeader(): boolean {
    if (this.#state === 'leading' && this.#isPastDeadline())
      this.lose(new NotLeaderError('the lease was not renewed in time'))
    return this.#state === 'leading'
  }

  /** True while an abandoned or unanswered write may still reach the server. */
  get isInDoubt(): boolean {
    return this.#doubts.size > 0
  }

  /** Resolves when no such write remains. */
  async certain(): Promise<void> {
    while (this.isInDoubt) await Promise.all(this.#doubts)
  }

  /** Records a successful renewal that was sent at `sentAtMs`. Has no effect on a term that is over. */
  renewed(sentAtMs: number): void {
    if (!this.isLeader()) return
    this.#renewedAtMs = sentAtMs
    this.#setTimer()
    this.isLeader()
  }

  /** Ends the term immediately; pending writes are abandoned. */
  lose(reason: Error): void {
    if (this.#state === 'over') return
    const wasLeading = this.#state === 'leading'
    this.#state = 'over'
    this.#cancelTimer()
    this.#abort.abort(reason)
    if (this.#writes.size > 0) this.#doubt()
    for (const write of this.#writes) write.abort(reason)
    this.#onIdle?.()
    if (wasLeading) this.#options.onLost(reason)
  }

  /** Refuses further writes. Pending ones may finish before the deadline; `finished` waits for them. */
  stop(): void {
    if (!this.isLeader()) return
    this.#state = 'stopping'
    this.#abort.abort(new NotLeaderError('the lease is being released'))
  }

  /**
   * Waits for pending writes and for `work`. Returns false if the deadline came first: their outcome is then unknown.
   */
  async finished(work: Promise<unknown>): Promise<boolean> {
    if (this.#state !== 'stopping') return false
    await new Promise<void>((resolve) => {
      let isWorkDone = false
      this.#onIdle = () => {
        if (this.#state === 'over' || (isWorkDone && this.#writes.size === 0)) resolve()
      }
      const onWorkDone = () => {
        isWorkDone = true
        this.#onIdle?.()
      }
      work.then(onWorkDone, onWorkDone)
    })
    return !this.#isOver()
  }

  /** Sends a write if this process leads. It is abandoned when `signal` is aborted or leadership is lost. */
  async write<T>(send: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined, what: string): Promise<T> {
    if (!this.isLeader()) throw new NotLeaderError(`${what} is not sent: this process is not the leader`)
    signal?.throwIfAborted()
    const abort = linkAbort(signal)
    this.#writes.add(abort)
    try {
      const answer = await send(abort.signal)
      const version = (answer as { metadata?: { resourceVersion?: unknown } } | undefined)?.metadata?.resourceVersion
      if (typeof version === 'string') this.#options.onWritten(version)
      return answer
    } catch (e) {
      // A server that responded does nothing more with the request.
      if (!(e instanceof ApiError) && !(e instanceof TransportError && e.isUnsent)) this.#doubt()
      throw e
    } finally {
      abort.unlink()
      this.#writes.delete(abort)
      this.#onIdle?.()
    }
  }

  /** Waits by a timer, because clocks may be set. */
  #doubt(): void {
    const { clock, doubtMs = 5000 } = this.#options
    const doubt = new Promise<void>((resolve) => {
      clock.after(doubtMs, () => {
        this.#doubts.delete(doubt)
        resolve()
      })
    })
    this.#doubts.add(doubt)
  }

  #isOver(): boolean {
    if (this.#state === 'stopping' && this.#isPastDeadline())
      this.lose(new NotLeaderError('the lease was not renewed in time'))
    return this.#state === 'over'
  }

  #isPastDeadline(): boolean {
    const nowMs = this.#options.clock.now()
    // If the clock was set back to before the renewal, the remaining time is unknown.
    return nowMs < this.#renewedAtMs || nowMs >= this.#renewedAtMs + this.#options.renewDeadlineMs
  }

  /** The timer ends the term without a check, and also if the clock is set back, because it measures elapsed time. */
  #setTimer(): void {
    const { clock, renewDeadlineMs } = this.#options
    this.#cancelTimer()
    const leftMs = Math.max(0, this.#renewedAtMs + renewDeadlineMs - clock.now())
    this.#cancelTimer = clock.after(leftMs, () => this.lose(new NotLeaderError('the lease was not renewed in time')))
  }
}

/** Wraps a signal so that every read checks whether it should be aborted, not only when a timer runs. */
function tellingTheTruth(signal: AbortSignal, check: () => void): AbortSignal {
  const prototype = Object.getPrototypeOf(signal) as AbortSignal
  const isAborted = Object.getOwnPropertyDescriptor(prototype, 'aborted')!.get!
  Object.defineProperties(signal, {
    aborted: {
      get: () => {
        check()
        return isAborted.call(signal) as boolean
      },
    },
    throwIfAborted: {
      value: () => {
        check()
        prototype.throwIfAborted.call(signal)
      },
    },
  })
  return signal
}
