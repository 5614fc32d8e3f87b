import type { Lease } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { type LeaseRecord, newerVersion, readLease } from './lease-record.ts'

/**
 * A lease as this process has seen it. The times that stand in it come from other machines' clocks and count for nothing: a holder is given its
 * lease duration from the moment at which its latest renewal was seen here, measured by a timer, so that setting the clock does not matter either.
 * Where it was deleted, or emptied other than by giving it up, the same time is given to whoever may have held it. Only who never saw a lease
 * takes it that there is no leader where there is no lease.
 */
export class ObservedLease {
  readonly #clock: Clock
  readonly #defaultDurationMs: number
  readonly #onExpired: () => void
  #lease: Lease | undefined
  #record: LeaseRecord | undefined
  #fingerprint = ''
  /** Who may still be acting on the lease; `by` is undefined for somebody who cannot be told from the lease any more. */
  #held: { by: string | undefined } | undefined
  #lastWritten = ''
  #transitions = 0
  #cancelTimer: (() => void) | undefined

  /** `defaultDurationMs` is for holders that do not say; `onExpired` is called when a holder's time is over. */
  constructor(clock: Clock, defaultDurationMs: number, onExpired: () => void) {
    this.#clock = clock
    this.#defaultDurationMs = defaultDurationMs
    this.#onExpired = onExpired
  }

  /** As it was last read or written; undefined if it was not there. */
  get lease(): Lease | undefined {
    return this.#lease
  }

  /** Who the lease names: '' for nobody. */
  get holder(): string {
    return this.#record?.holder ?? ''
  }

  /** The most that was ever seen: a lease that is created again goes on counting. */
  get transitions(): number {
    return this.#transitions
  }

  get lastWritten(): string {
    return this.#lastWritten
  }

  /** Whether nobody but `identity` can be acting on the lease. */
  isFreeFor(identity: string): boolean {
    return this.#held === undefined || this.#held.by === identity
  }

  /** Takes note of the lease as it is now; undefined if there is none. */
  see(lease: Lease | undefined): void {
    this.#lease = lease
    this.#record = lease && readLease(lease)
    // Somebody who only touches labels does not renew.
    const fingerprint = lease ? JSON.stringify([lease.metadata.uid, lease.spec]) : ''
    if (fingerprint === this.#fingerprint) return
    this.#fingerprint = fingerprint
    // It was there: whoever held it when it was deleted may not have noticed, and need not be the one that was seen last.
    if (!this.#record) return this.#hold(undefined, this.#defaultDurationMs)
    const { holder, durationMs, transitions, lastWritten, isReleased } = this.#record
    this.#lastWritten = newerVersion(this.#lastWritten, lastWritten)
    this.#transitions = Math.max(this.#transitions, transitions)
    if (isReleased) this.#free()
    else this.#hold(holder === '' ? undefined : holder, durationMs ?? this.#defaultDurationMs)
  }

  /** Waits for nobody any more. */
  close(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #hold(by: string | undefined, durationMs: number): void {
    this.#cancelTimer?.()
    this.#held = { by }
    this.#cancelTimer = this.#clock.after(durationMs, () => {
      this.#free()
      this.#onExpired()
    })
  }

  #free(): void {
    this.close()
    this.#held = undefined
  }
}
