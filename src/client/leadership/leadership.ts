import { ApiError } from '../../api/errors.ts'
import type { Clock } from '../../base/clock.ts'
import { type LinkedAbort, linkAbort } from '../linked-abort.ts'
import { TransportError } from '../transport.ts'
import { NotLeaderError } from './not-leader-error.ts'

/** Leading; told to stop, with writes still under way; over. */
type State = 'leading' | 'stopping' | 'over'

export interface LeadershipOptions {
  clock: Clock
  /** For how long after a renewal was sent this process may act on it. */
  renewDeadlineMs: number
  /** For how long a write that was not answered may still be on its way. Default: 5 s, the time between the usual deadline and the end of a lease. */
  doubtMs?: number
  /** When the write was sent that made this process the leader. */
  sentAtMs: number
  /** Told of the resource version of every write. */
  onWritten(resourceVersion: string): void
  /** Told once when leadership is lost, with the signal aborted already. */
  onLost(reason: Error): void
}

/**
 * One term of leading, good for fencing: whether it lasts is found out at the moment of asking, by comparing the clock with the deadline, so a process that
 * was paused finds its term over before it can act on it. A term that is over stays over; the next one is another object.
 */
export class Leadership {
  /** Aborted when this process must stop acting as leader. Reading `aborted` compares the clock with the deadline first. */
  readonly signal: AbortSignal
  readonly #options: LeadershipOptions
  readonly #abort = new AbortController()
  #state: State = 'leading'
  #renewedAtMs: number
  #cancelTimer: () => void = () => {}
  /** Writes under way. */
  readonly #writes = new Set<LinkedAbort>()
  /** Writes that may still reach the server although nobody waits for them any more. */
  readonly #doubts = new Set<Promise<void>>()
  #onIdle: (() => void) | undefined

  constructor(options: LeadershipOptions) {
    this.#options = options
    this.#renewedAtMs = options.sentAtMs
    this.signal = tellingTheTruth(this.#abort.signal, () => this.isLeader())
    this.#setTimer()
  }

  /** Whether this process may act as leader now. */
  isLeader(): boolean {
    if (this.#state === 'leading' && this.#isPastDeadline()) this.lose(new NotLeaderError('the lease was not renewed in time'))
    return this.#state === 'leading'
  }

  /** Whether a write that was given up, or not answered, may still reach the server. */
  get isInDoubt(): boolean {
    return this.#doubts.size > 0
  }

  /** Resolves when none may any more. */
  async certain(): Promise<void> {
    while (this.isInDoubt) await Promise.all(this.#doubts)
  }

  /** A renewal that was sent at `sentAtMs` has succeeded. Comes too late for a term that has ended meanwhile. */
  renewed(sentAtMs: number): void {
    if (!this.isLeader()) return
    this.#renewedAtMs = sentAtMs
    this.#setTimer()
    this.isLeader()
  }

  /** Ends the term at once; writes under way are given up. */
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

  /** Starts no more writes. Those under way may finish, until the deadline: `finished` waits for them. */
  stop(): void {
    if (!this.isLeader()) return
    this.#state = 'stopping'
    this.#abort.abort(new NotLeaderError('the lease is being given up'))
  }

  /** Waits for writes under way and for `work`. False if the deadline came first: then nobody knows what is still to happen. */
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

  /** Sends a write, if this process may. The write is given up when `signal` is aborted or leadership is lost. */
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
      // Who answers has seen it, and does nothing more about it.
      if (!(e instanceof ApiError) && !(e instanceof TransportError && e.isUnsent)) this.#doubt()
      throw e
    } finally {
      abort.unlink()
      this.#writes.delete(abort)
      this.#onIdle?.()
    }
  }

  /** Measured by a timer: clocks may be set meanwhile. */
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
    if (this.#state === 'stopping' && this.#isPastDeadline()) this.lose(new NotLeaderError('the lease was not renewed in time'))
    return this.#state === 'over'
  }

  #isPastDeadline(): boolean {
    const nowMs = this.#options.clock.now()
    // Before the renewal, a clock that was set back cannot tell how much time is left.
    return nowMs < this.#renewedAtMs || nowMs >= this.#renewedAtMs + this.#options.renewDeadlineMs
  }

  /** The timer is for those who do not ask, and for a clock that is set back: it counts the time that really passes. */
  #setTimer(): void {
    const { clock, renewDeadlineMs } = this.#options
    this.#cancelTimer()
    const leftMs = Math.max(0, this.#renewedAtMs + renewDeadlineMs - clock.now())
    this.#cancelTimer = clock.after(leftMs, () => this.lose(new NotLeaderError('the lease was not renewed in time')))
  }
}

/** The same signal, which finds out whether it should be aborted whenever it is asked, and not only when a timer gets its turn. */
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
