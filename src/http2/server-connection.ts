import type { Duplex } from 'node:stream'
import { Connection, violation } from './connection.ts'
import { ErrorCode, Http2Error } from './errors.ts'
import { Setting, defaultFrameBytes, preface } from './frames.ts'
import type { Field } from './hpack/static-table.ts'
import { Patience, veryMuch } from './patience.ts'
import { type RequestHead, requestHead } from './request-head.ts'
import { Http2Stream } from './stream.ts'

interface ServerConnectionOptions {
  socket: Duplex
  maxStreams: number
  /** A monotonic clock in milliseconds. */
  now(): number
  onRequest(stream: Http2Stream, head: RequestHead): void
  onClosed(): void
}

/** The time limits for a client, in milliseconds. */
export interface TimeLimits {
  /** To send the preface and settings. */
  prefaceMs: number
  /** To complete a frame or header block that it has begun. */
  frameMs: number
  /** To send a request while none is in progress. */
  idleMs: number
  /** To read any part of a response. */
  unreadMs: number
}

const streamWindow = 1 << 20
/** The receive window of the connection: unread bytes of all streams. */
const connectionWindow = 16 << 20
/** The maximum of unsent bytes of all streams of a connection. An object that several streams share counts for each. */
const maxQueuedBytes = 256 << 20
/** The number of closed streams to remember: late frames for them are no protocol errors. */
const maxEnded = 500

/** The server side of an HTTP/2 connection. */
export class ServerConnection extends Connection {
  readonly #options: ServerConnectionOptions
  readonly #patience: Patience
  /** The rest of the client's preface that has not arrived yet. */
  #expected = Buffer.from(preface, 'latin1')
  #isLeaving = false
  readonly #trifles: Patience
  /** The side that ended each closed stream, the oldest stream first. */
  readonly #ended = new Map<number, 'us' | 'them'>()
  #forgotten = 0
  /** The time since which no request is in progress. */
  #idleSince: number | undefined
  readonly #beganAt: number
  /** The progress at the last check, and the time since which it is unchanged. */
  #stuck: { heard: number; since: number } | undefined
  #heard = 0
  readonly #stalled = new Map<Http2Stream, { backlog: number; sent: number; since: number }>()

  constructor(options: ServerConnectionOptions) {
    super({
      socket: options.socket,
      streamWindow,
      connectionWindow,
      maxFrameBytes: defaultFrameBytes,
      onClosed: () => options.onClosed(),
    })
    this.#options = options
    this.#patience = new Patience(options.now)
    this.#trifles = new Patience(options.now, veryMuch)
    this.#idleSince = this.#beganAt = options.now()
    this.greet([[Setting.maxConcurrentStreams, options.maxStreams]])
  }

  /** Sends GOAWAY. The connection ends after the streams in progress. */
  close(): void {
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.sayGoodbye(ErrorCode.noError)
    this.#leaveIfIdle()
  }

  /** Closes streams and connections that exceed a time limit. Must be called periodically. */
  checkTime(limits: TimeLimits): void {
    if (this.isClosed) return
    const now = this.#options.now()
    if (this.#expected.length > 0) {
      if (now - this.#beganAt >= limits.prefaceMs) this.destroy()
      return
    }
    if (this.#isStuck(now) >= limits.frameMs)
      return this.fail(new Http2Error(ErrorCode.enhanceYourCalm, 'a frame without an end'))
    if (this.queuedBytes > maxQueuedBytes)
      return this.fail(new Http2Error(ErrorCode.enhanceYourCalm, 'too much that is not read'))
    for (const stream of Array.from(this.streams.values()))
      if (this.#stalledFor(stream, now) >= limits.unreadMs) stream.reset(ErrorCode.cancel)
    if (this.#idleSince !== undefined && now - this.#idleSince >= limits.idleMs) this.close()
  }

  #isStuck(now: number): number {
    if (!this.isAmidFrame) this.#stuck = undefined
    else if (this.#stuck?.heard !== this.#heard) this.#stuck = { heard: this.#heard, since: now }
    return this.#stuck ? now - this.#stuck.since : 0
  }

  #stalledFor(stream: Http2Stream, now: number): number {
    const { backlog, sentBytes: sent } = stream
    const before = this.#stalled.get(stream)
    if (backlog === 0) this.#stalled.delete(stream)
    else if (before?.sent !== sent) this.#stalled.set(stream, { backlog, sent, since: now })
    return before && before.sent === sent && backlog > 0 ? now - before.since : 0
  }

  override forget(stream: Http2Stream): void {
    super.forget(stream)
    this.#stalled.delete(stream)
    this.#remember(stream.id, stream.isRemoteEnded || stream.wasReset ? 'them' : 'us')
    if (this.streams.size === 0) this.#idleSince = this.#options.now()
    this.#leaveIfIdle()
  }

  /** Resets a stream whose response is complete while its request is not: the client need not send the rest. */
  override localEnded(stream: Http2Stream): void {
    stream.reset(ErrorCode.noError)
  }

  protected override received(bytes: Buffer): void {
    this.#heard++
    const left = this.#expected.length
    if (left === 0) return super.received(bytes)
    const length = Math.min(left, bytes.length)
    if (bytes.compare(this.#expected, 0, length, 0, length) !== 0) return this.fail(violation('this is not HTTP/2'))
    this.#expected = this.#expected.subarray(length)
    if (bytes.length > length) super.received(bytes.subarray(length))
  }

  protected override headers(id: number, fields: readonly Field[] | undefined, isEnd: boolean): void {
    const open = this.streams.get(id)
    if (open) {
      // Trailers of a request are ignored.
      if (isEnd && !open.isRemoteEnded && !fields?.some(({ name }) => name.startsWith(':'))) open.remoteEnded()
      else this.blame(open, open.isRemoteEnded ? ErrorCode.streamClosed : ErrorCode.protocolError)
      return
    }
    if (id % 2 === 0) throw violation("a stream of a number that is not the client's")
    if (id > this.lastRemote) return this.#begin(id, fields, isEnd)
    if (id > this.#forgotten && !this.#ended.has(id)) throw violation('a stream below one that was opened before')
    if (this.#ended.get(id) !== 'them') this.abused()
    this.afterEnd(id)
  }

  /**
   * Frames in flight for a stream that this side has reset are ignored. For a stream that the client has ended, they
   * are an error.
   */
  protected override afterEnd(id: number): void {
    if (this.#ended.get(id) !== 'them') return
    this.abused()
    this.expectReader()
    this.sendReset({ id } as Http2Stream, ErrorCode.streamClosed)
  }

  protected override trifled(): void {
    if (!this.#trifles.bear()) throw new Http2Error(ErrorCode.enhanceYourCalm, 'too much in too small steps')
  }

  #remember(id: number, by: 'us' | 'them'): void {
    this.#ended.set(id, by)
    if (this.#ended.size <= maxEnded) return
    const [oldest] = this.#ended.keys()
    this.#ended.delete(oldest!)
    this.#forgotten = Math.max(this.#forgotten, oldest!)
  }

  protected override goaway(): void {}

  protected override abused(): void {
    if (!this.#patience.bear()) throw new Http2Error(ErrorCode.enhanceYourCalm, 'too many resets and empty frames')
  }

  protected override isIdle(stream: number): boolean {
    return stream > this.lastRemote || stream % 2 === 0
  }

  #begin(id: number, fields: readonly Field[] | undefined, isEnd: boolean): void {
    this.lastRemote = id
    const stream = new Http2Stream(id, this, this.windows)
    this.expectReader()
    if (this.#isLeaving || this.streams.size >= this.#options.maxStreams)
      return this.blame(stream, ErrorCode.refusedStream)
    this.streams.set(id, stream)
    this.#idleSince = undefined
    if (isEnd) stream.remoteEnded()
    if (!fields) return stream.sendHeaders([{ name: ':status', value: '431' }], true)
    const head = requestHead(fields)
    if (head) this.#options.onRequest(stream, head)
    else this.blame(stream, ErrorCode.protocolError)
  }

  #leaveIfIdle(): void {
    if (!this.#isLeaving || this.streams.size > 0 || this.isClosed) return
    this.output.flush()
    this.#options.socket.end(() => this.destroy())
  }
}
