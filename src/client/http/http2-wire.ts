import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { ClientConnection, type Field, Heartbeat, type HeartbeatOptions, isFieldName } from '../../http2/index.ts'
import type { TransportError } from '../transport/transport.ts'
import { unanswered, unsent } from './failure.ts'
import type { Answer, AnswerHeaders, Wire, WireRequest } from './wire.ts'

export interface Http2WireOptions extends HeartbeatOptions {
  clock: Clock
  /** Host and port. */
  host: string
  /** Called once, when the connection is closed. */
  onClosed(): void
}

/** Flow-control window of a stream: enough for a fast network with high latency. */
const streamWindow = 4 << 20
const connectionWindow = 32 << 20
/** Share of the allowed streams that watches may use; the rest is for short requests. */
const longShare = 0.8

/** One HTTP/2 connection. */
export class Http2Wire implements Wire {
  readonly #connection: ClientConnection
  readonly #options: Http2WireOptions
  readonly #addressed: readonly Field[]
  #long = 0
  #error: Error | undefined
  #onGone: (() => void)[] = []
  readonly #heartbeat: Heartbeat

  constructor(socket: Socket, options: Http2WireOptions) {
    this.#options = options
    this.#addressed = [
      { name: ':scheme', value: 'https' },
      { name: ':authority', value: options.host },
    ]
    this.#connection = new ClientConnection({
      socket,
      streamWindow,
      connectionWindow,
      onHeard: () => this.#heartbeat.heard(),
      onLeaving: () => {},
      onClosed: (error) => this.#gone(error),
    })
    this.#heartbeat = new Heartbeat(this.#connection, options, options.clock)
  }

  /** Resolves when the server has sent its settings; rejects if the connection ends first. */
  async ready(): Promise<void> {
    await this.#connection.ready()
    if (this.#connection.isClosed) throw this.#error ?? new Error('the server has closed the connection')
  }

  /** Returns true if another request may be sent; a watch must leave room for short requests. */
  hasRoom(isLong: boolean): boolean {
    if (!this.#connection.isUsable) return false
    return !isLong || this.#long < Math.max(1, Math.floor(this.#connection.maxStreams * longShare))
  }

  start(request: WireRequest, answer: Answer): () => void {
    let fields: Field[]
    try {
      fields = fieldsOf(request, this.#addressed)
    } catch (e) {
      // An invalid header. Deferred until the caller has the function to cancel.
      let isCancelled = false
      queueMicrotask(() => {
        if (!isCancelled) answer.fail(unsent(e))
      })
      return () => (isCancelled = true)
    }
    return this.#carry(fields, request, answer)
  }

  #carry(fields: readonly Field[], { isLong, body }: WireRequest, answer: Answer): () => void {
    let waiting: Answer | undefined = answer
    this.#heartbeat.began()
    if (isLong) this.#long++
    const cancel = this.#connection.request(
      { fields, body: body === undefined ? undefined : Buffer.from(body) },
      {
        head: (status, received) => waiting?.head(status, headersOf(received)),
        data: (piece) => waiting?.data(piece),
        end: () => {
          const told = waiting
          waiting = undefined
          told?.end()
        },
        closed: (isUnsent) => {
          this.#heartbeat.ended()
          if (isLong) this.#long--
          const told = waiting
          waiting = undefined
          told?.fail(this.#failure(isUnsent))
        },
      },
    )
    return () => {
      if (!waiting) return
      waiting = undefined
      cancel()
    }
  }

  /** Closes the connection after its requests, or immediately if `isNow`. */
  close(isNow: boolean): Promise<void> {
    return new Promise((resolve) => {
      if (this.#connection.isClosed) return resolve()
      this.#onGone.push(resolve)
      if (isNow) this.#connection.destroy()
      else this.#connection.close()
    })
  }

  #gone(error: Error | undefined): void {
    this.#error ??= error
    this.#heartbeat.stop()
    for (const tell of this.#onGone.splice(0)) tell()
    this.#options.onClosed()
  }

  #failure(isUnsent: boolean): TransportError {
    const why =
      this.#error ?? this.#connection.error ?? new Error('the connection was closed before the answer was complete')
    return isUnsent ? unsent(why) : unanswered(why)
  }
}

// oxlint-disable-next-line no-control-regex
const isValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Returns the header fields of a request. Throws for an invalid header. */
function fieldsOf({ method, path, headers }: WireRequest, addressed: readonly Field[]): Field[] {
  const fields: Field[] = [{ name: ':method', value: method }, ...addressed, { name: ':path', value: path }]
  const add = (name: string, value: string) => {
    if (!isFieldName(name)) throw new TypeError(`Header name must be a valid HTTP token ["${name}"]`)
    if (!isValue.test(value)) throw new TypeError(`Invalid character in header content ["${name}"]`)
    fields.push({ name, value: value.trim() })
  }
  for (const name in headers) {
    const value = headers[name]!
    if (typeof value === 'string') add(name.toLowerCase(), value)
    else for (const one of value) add(name.toLowerCase(), one)
  }
  return fields
}

function headersOf(fields: readonly Field[]): AnswerHeaders {
  const headers: Record<string, string | string[]> = {}
  for (const { name, value } of fields) {
    if (name.startsWith(':')) continue
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined
    headers[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value]
  }
  return headers
}
