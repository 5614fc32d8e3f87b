import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import type { TransportError } from '../transport.ts'
import { carrierOf } from './carrier.ts'
import { unanswered, unsent } from './failure.ts'
import type { Answer, Wire, WireRequest } from './wire.ts'

export interface HeartbeatOptions {
  /** A connection on which nothing is heard for so long, while something is expected, is asked for a sign of life. */
  pingAfterMs: number
  /** One that gives none for so long is dead. */
  pingTimeoutMs: number
}

export interface Http2WireOptions extends HeartbeatOptions {
  clock: Clock
  origin: string
  /** The connection is gone. Called once. */
  onClosed(): void
}

/** What the server may send ahead of our reading: enough for a fast network over a long way. */
const streamWindowBytes = 4 << 20
const connectionWindowBytes = 32 << 20
/** Of the streams that a server allows, the part that watches may hold: the rest is for requests, which come and go. */
const longShare = 0.8

/** One HTTP/2 connection, which carries any number of requests at once. */
export class Http2Wire implements Wire {
  readonly #session: ClientHttp2Session
  readonly #options: Http2WireOptions
  #open = 0
  #long = 0
  #isRetired = false
  /** Streams above this one were not looked at by a server that goes away. */
  #lastStream = Number.POSITIVE_INFINITY
  /** Whether anything came since the last look. */
  #isHeard = false
  /** Nothing was expected for a while, so that nobody looked. */
  #isSilent = false
  #cancelHeartbeat: (() => void) | undefined

  constructor(socket: Socket, options: Http2WireOptions) {
    this.#options = options
    const session = connect(options.origin, {
      createConnection: () => carrierOf(socket),
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
      maxSessionMemory: 1024,
    })
    this.#session = session
    session.setLocalWindowSize(connectionWindowBytes)
    session.on('goaway', (_code, lastStream) => {
      this.#lastStream = lastStream
      this.#retire()
    })
    // Every stream hears of the failure itself; unheard here, it would end the process.
    session.on('error', () => this.#retire())
    session.once('close', () => {
      this.#retire()
      this.#cancelHeartbeat?.()
      options.onClosed()
    })
  }

  /** Resolves when the server has said what it allows; rejects if it goes away before. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const session = this.#session
      let error: Error | undefined
      session.once('remoteSettings', () => resolve())
      session.once('error', (e: Error) => (error = e))
      session.once('close', () => reject(error ?? new Error('the server has closed the connection')))
    })
  }

  /** Whether another request may be sent here; a watch only while there is room for it beside requests. */
  hasRoom(isLong: boolean): boolean {
    if (this.#isRetired || this.#session.destroyed || this.#session.closed) return false
    if (!isLong) return true
    const { maxConcurrentStreams } = this.#session.remoteSettings ?? {}
    return maxConcurrentStreams === undefined || this.#long < Math.max(1, Math.floor(maxConcurrentStreams * longShare))
  }

  start(request: WireRequest, answer: Answer): () => void {
    let stream: ClientHttp2Stream
    try {
      const { method, path, headers, body } = request
      stream = this.#session.request({ ...headers, ':method': method, ':path': path }, { endStream: body === undefined })
    } catch (e) {
      // Nothing was sent: the session closed in between, or a header is not one. Said after the caller has its way to cancel.
      let isCancelled = false
      queueMicrotask(() => {
        if (!isCancelled) answer.fail(unsent(e))
      })
      return () => (isCancelled = true)
    }
    return this.#carry(stream, request, answer)
  }

  #carry(stream: ClientHttp2Stream, { isLong, body }: WireRequest, answer: Answer): () => void {
    // Node keeps streams for longer than they last; what they have answered should not be kept with them.
    let waiting: Answer | undefined = answer
    let hasHead = false
    let error: Error | undefined
    this.#began(isLong)
    stream.on('response', (headers) => {
      this.#isHeard = true
      hasHead = true
      waiting?.head(headers[':status'] ?? 0, headers)
      // Only now: over a carrier, Node may have the first bytes before it has told of the answer that they belong to.
      stream.on('data', (chunk: Buffer) => {
        this.#isHeard = true
        waiting?.data(chunk)
      })
    })
    // A stream that was cut ends too, but with a code, or before it had an answer at all.
    stream.on('end', () => {
      if (!hasHead || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return
      const told = waiting
      waiting = undefined
      told?.end()
    })
    stream.on('error', (e: Error) => (error = e))
    stream.once('close', () => {
      this.#open--
      if (isLong) this.#long--
      const told = waiting
      waiting = undefined
      told?.fail(this.#failureOf(stream, error))
    })
    if (body !== undefined) stream.end(body)
    return () => {
      if (!waiting) return
      waiting = undefined
      stream.close(constants.NGHTTP2_CANCEL)
    }
  }

  /** Ends the connection once nothing is carried any more, at once if `isNow`. */
  close(isNow: boolean): Promise<void> {
    this.#retire()
    return new Promise((resolve) => {
      if (this.#session.destroyed) return resolve()
      this.#session.once('close', resolve)
      if (isNow) this.#session.destroy()
    })
  }

  #retire(): void {
    if (this.#isRetired) return
    this.#isRetired = true
    // Lets what is under way come to its end.
    if (!this.#session.destroyed && !this.#session.closed) this.#session.close()
  }

  #failureOf(stream: ClientHttp2Stream, error: Error | undefined): TransportError {
    const { id, rstCode } = stream
    const isUnsent = id === undefined || rstCode === constants.NGHTTP2_REFUSED_STREAM || id > this.#lastStream
    const why = error ?? new Error('the connection was closed before the answer was complete')
    return isUnsent ? unsent(why) : unanswered(why)
  }

  #began(isLong: boolean): void {
    this.#open++
    if (isLong) this.#long++
    if (this.#cancelHeartbeat) return
    // After a silence, the connection may be gone without a word: better to know soon.
    if (this.#isSilent) this.#ping()
    else this.#listen()
  }

  /** While something is expected, notices when nothing comes. */
  #listen(): void {
    this.#isHeard = false
    this.#cancelHeartbeat = this.#options.clock.after(this.#options.pingAfterMs, () => {
      if (this.#open === 0) this.#rest()
      else if (this.#isHeard) this.#listen()
      else this.#ping()
    })
  }

  /** A connection that carries nothing has no timer. */
  #rest(): void {
    this.#cancelHeartbeat = undefined
    this.#isSilent = true
  }

  #ping(): void {
    const session = this.#session
    if (session.destroyed) return
    this.#isHeard = false
    this.#isSilent = false
    this.#cancelHeartbeat = this.#options.clock.after(this.#options.pingTimeoutMs, () => {
      if (this.#isHeard) this.#listen()
      else session.destroy(new Error(`no sign of life within ${this.#options.pingTimeoutMs / 1000} s`))
    })
    session.ping((error) => {
      if (!error) this.#isHeard = true
    })
  }
}
