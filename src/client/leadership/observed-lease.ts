import type { Lease } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { type LeaseRecord, newerVersion, readLease } from './lease-record.ts'

/**
 * A lease as observed by this process. Times in the lease come from clocks of other machines and are ignored: a holder
 * keeps its lease duration from the moment at which its latest renewal was observed here, measured by a timer, so
 * changes of the clock have no effect. If the lease was deleted, or emptied other than by a release, its unknown holder
 * keeps the same time. Only a process that never saw a lease assumes that a missing lease has no leader.
 */
export class ObservedLease {
  readonly #clock: Clock
  readonly #defaultDurationMs: number
  readonly #onExpired: () => void
  #lease: Lease | undefined
  #record: LeaseRecord | undefined
  #fingerprint = ''
  /** The process that may still act on the lease; `by` is undefined if it is unknown. */
  #held: { by: string | undefined } | undefined
  #lastWritten = ''
  #transitions = 0
  #cancelTimer: (() => void) | undefined

  /** `defaultDurationMs` applies to holders without a duration; `onExpired` is called when a holder's time is over. */
  constructor(clock: Clock, defaultDurationMs: number, onExpired: () => void) {
    this.#clock = clock
    this.#defaultDurationMs = defaultDurationMs
    this.#onExpired = onExpired
  }

  /** The lease as last read or written; undefined if it did not exist. */
  get lease(): Lease | undefined {
    return this.#lease
  }

  /** The holder in the lease; '' for none. */
  get holder(): string {
    return this.#record?.holder ?? ''
  }

  /** The highest observed number: a recreated lease continues counting. */
  get transitions(): number {
    return this.#transitions
  }

  get lastWritten(): string {
    return this.#lastWritten
  }

  /** Returns true if no process but `identity` can be acting on the lease. */
  isFreeFor(identity: string): boolean {
    return this.#held === undefined || this.#held.by === identity
  }

  /** Records the current lease; undefined if there is none. */
  see(lease: Lease | undefined): void {
    this.#lease = lease
    this.#record = lease && readLease(lease)
    // Changes of labels are not renewals.
    const fingerprint = lease ? JSON.stringify([lease.metadata.uid, lease.spec]) : ''
    if (fingerprint === this.#fingerprint) return
    this.#fingerprint = fingerprint
    // The lease existed: its holder at the time of deletion may not have noticed, and may differ from the last observed
    // one.
    if (!this.#record) return this.#hold(undefined, this.#defaultDurationMs)
    const { holder, durationMs, transitions, lastWritten, isReleased } = this.#record
    this.#lastWritten = newerVersion(this.#lastWritten, lastWritten)
    this.#transitions = Math.max(this.#transitions, transitions)
    if (isReleased) this.#free()
    else this.#hold(holder === '' ? undefined : holder, durationMs ?? this.#defaultDurationMs)
  }

  /** Stops all timers. */
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
