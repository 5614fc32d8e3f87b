import type { ApiError, Status } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import { TransportError, type WatchEvent, type WatchListener } from '../transport/transport.ts'
import type { Receiver } from './attempt.ts'
import { EventReader } from './event-reader.ts'
import { LineSplitter } from './line-splitter.ts'
import { errorOfAnswer, errorOfStatus } from './status-error.ts'
import type { AnswerHeaders } from './wire.ts'

/** Reads the response of a watch: one event per line. */
export class WatchAnswer<T extends KubeObject> implements Receiver {
  readonly #listener: WatchListener<T>
  readonly #clock: Clock
  readonly #lines = new LineSplitter((line) => this.#take(line))
  readonly #events = new EventReader<T>()
  /** Cancels the request on the connection. */
  readonly #hangUp: () => void
  readonly #onOpened: () => void
  #code = 0
  #headers: AnswerHeaders = {}
  /** The body of an error response. */
  readonly #chunks: Buffer[] = []
  #isOver = false

  constructor(listener: WatchListener<T>, clock: Clock, onOpened: () => void, hangUp: () => void) {
    this.#listener = listener
    this.#clock = clock
    this.#onOpened = onOpened
    this.#hangUp = hangUp
  }

  head(code: number, headers: AnswerHeaders): void {
    this.#code = code
    this.#headers = headers
    if (code !== 200) return
    this.#onOpened()
    try {
      this.#listener.opened()
    } catch (e) {
      this.#misheard(e)
    }
  }

  data(chunk: Buffer): void {
    if (this.#code === 200) this.#lines.push(chunk)
    else this.#chunks.push(chunk)
  }

  end(): void {
    if (this.#code === 200) {
      this.#lines.end()
      this.close(undefined)
    } else {
      this.close(
        errorOfAnswer(this.#code, this.#headers, Buffer.concat(this.#chunks).toString('utf8'), this.#clock.now()),
      )
    }
  }

  fail(error: Error): void {
    this.close(error)
  }

  aborted(): void {
    this.close(undefined)
  }

  /** Calls `closed` of the listener, once. */
  close(error: Error | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#lines.stop()
    this.#hangUp()
    this.#listener.closed(error)
  }

  #take(line: string): void {
    let event: WatchEvent<T>
    try {
      event = this.#events.read(line)
    } catch (e) {
      return this.close(
        new TransportError(`an event of the watch is not JSON: ${(e as Error).message}`, false, { cause: e }),
      )
    }
    if ((event.type as string) === 'ERROR') return this.close(errorOfEvent(event.object))
    try {
      this.#listener.event(event)
    } catch (e) {
      this.#misheard(e)
    }
  }

  /** Ends the watch with the error of the listener: a failed listener has missed an event. */
  #misheard(e: unknown): void {
    this.close(e instanceof Error ? e : new Error(String(e)))
  }
}

function errorOfEvent(object: unknown): ApiError {
  return errorOfStatus((object ?? {}) as Partial<Status>, (object as Partial<Status> | undefined)?.code ?? 500)
}
