import type { Lease } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { type LeaseRecord, newerVersion, readLease } from './lease-record.ts'

/**
 * A lease as this process has seen it. The times that stand in it come from other machines' clocks and count for nothing: a holder is given its
 * lease duration from the moment at which its latest renewal was seen here, measured by a timer, so that setting the clock does not matter either.
 */
export class ObservedLease {
  readonly #clock: Clock
  readonly #defaultDurationMs: number
  readonly #onExpired: () => void
  #lease: Lease | undefined
  #record: LeaseRecord | undefined
  #fingerprint = ''
  /** Who may still act on the lease; stays when the lease is deleted or emptied by others, until its time is over. */
  #heldBy = ''
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
    return this.#heldBy === '' || this.#heldBy === identity
  }

  /** Takes note of the lease as it is now; undefined if there is none. */
  see(lease: Lease | undefined): void {
    this.#lease = lease
    this.#record = lease && readLease(lease)
    // Somebody who only touches labels does not renew.
    const fingerprint = lease ? JSON.stringify([lease.metadata.uid, lease.spec]) : ''
    if (fingerprint === this.#fingerprint) return
    this.#fingerprint = fingerprint
    if (!this.#record) return
    const { holder, durationMs, transitions, lastWritten, isReleased } = this.#record
    this.#lastWritten = newerVersion(this.#lastWritten, lastWritten)
    this.#transitions = Math.max(this.#transitions, transitions)
    if (holder !== '') this.#hold(holder, durationMs ?? this.#defaultDurationMs)
    else if (isReleased) this.#free()
  }

  /** Waits for nobody any more. */
  close(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #hold(holder: string, durationMs: number): void {
    this.#cancelTimer?.()
    this.#heldBy = holder
    this.#cancelTimer = this.#clock.after(durationMs, () => {
      this.#free()
      this.#onExpired()
    })
  }

  #free(): void {
    this.close()
    this.#heldBy = ''
  }
}
