import type { Clock } from '../base/clock.ts'
import type { Connection } from './connection.ts'

export interface HeartbeatOptions {
  /** A ping is sent if nothing arrives for this long while a response is expected. */
  pingAfterMs: number
  /** The connection is destroyed if the ping is not acknowledged within this time. */
  pingTimeoutMs: number
}

/**
 * Detects dead connections: sends a ping while a response is expected and nothing arrives, and destroys the connection
 * if the ping is not acknowledged.
 */
export class Heartbeat {
  readonly #connection: Pick<Connection, 'isClosed' | 'ping' | 'destroy'>
  readonly #options: HeartbeatOptions
  readonly #clock: Clock
  /** The number of requests in progress. */
  #open = 0
  /** True if anything has arrived since the last timer. */
  #isHeard = false
  /** True if the timer was off because no request was in progress. */
  #isSilent = false
  #cancel: (() => void) | undefined

  constructor(connection: Pick<Connection, 'isClosed' | 'ping' | 'destroy'>, options: HeartbeatOptions, clock: Clock) {
    this.#connection = connection
    this.#options = options
    this.#clock = clock
  }

  /** Called when anything arrives. */
  heard(): void {
    this.#isHeard = true
  }

  /** Called when a request is sent. */
  began(): void {
    this.#open++
    if (this.#cancel) return
    // An idle connection may have died unnoticed, so it is checked at once.
    if (this.#isSilent) this.#ping()
    else this.#listen()
  }

  /** Called when a request is complete. */
  ended(): void {
    this.#open--
  }

  stop(): void {
    this.#cancel?.()
  }

  /** Runs while requests are in progress. */
  #listen(): void {
    this.#isHeard = false
    this.#cancel = this.#clock.after(this.#options.pingAfterMs, () => {
      if (this.#open === 0) this.#rest()
      else if (this.#isHeard) this.#listen()
      else this.#ping()
    })
  }

  /** An idle connection has no timer. */
  #rest(): void {
    this.#cancel = undefined
    this.#isSilent = true
  }

  #ping(): void {
    const { pingTimeoutMs } = this.#options
    if (this.#connection.isClosed) return
    this.#isHeard = false
    this.#isSilent = false
    this.#cancel = this.#clock.after(pingTimeoutMs, () => {
      if (this.#isHeard) return this.#listen()
      this.#connection.destroy(new Error(`no sign of life within ${pingTimeoutMs / 1000} s`))
    })
    void this.#connection.ping()
  }
}
