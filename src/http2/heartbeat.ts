import type { Clock } from '../base/clock.ts'
import type { Connection } from './connection.ts'

export interface HeartbeatOptions {
  /** A connection on which nothing is heard for so long, while something is expected, is asked for a sign of life. */
  pingAfterMs: number
  /** One that gives none for so long is dead. */
  pingTimeoutMs: number
}

/** Pings a connection while an answer is expected and nothing comes, and destroys it when the ping is not answered. */
export class Heartbeat {
  readonly #connection: Pick<Connection, 'isClosed' | 'ping' | 'destroy'>
  readonly #options: HeartbeatOptions
  readonly #clock: Clock
  /** Requests that wait for an answer, or for more of one. */
  #open = 0
  /** Whether anything came since the last look. */
  #isHeard = false
  /** Nothing was expected for a while, so that nobody looked. */
  #isSilent = false
  #cancel: (() => void) | undefined

  constructor(connection: Pick<Connection, 'isClosed' | 'ping' | 'destroy'>, options: HeartbeatOptions, clock: Clock) {
    this.#connection = connection
    this.#options = options
    this.#clock = clock
  }

  /** Something came. */
  heard(): void {
    this.#isHeard = true
  }

  /** A request was sent. */
  began(): void {
    this.#open++
    if (this.#cancel) return
    // After a silence, the connection may be gone without a word: better to know soon.
    if (this.#isSilent) this.#ping()
    else this.#listen()
  }

  /** A request is over. */
  ended(): void {
    this.#open--
  }

  stop(): void {
    this.#cancel?.()
  }

  /** While something is expected, notices when nothing comes. */
  #listen(): void {
    this.#isHeard = false
    this.#cancel = this.#clock.after(this.#options.pingAfterMs, () => {
      if (this.#open === 0) this.#rest()
      else if (this.#isHeard) this.#listen()
      else this.#ping()
    })
  }

  /** A connection that carries nothing has no timer. */
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
