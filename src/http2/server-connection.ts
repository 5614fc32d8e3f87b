import type { Duplex } from 'node:stream'
import { Connection, violation } from './connection.ts'
import { ErrorCode, Http2Error } from './errors.ts'
import { Setting, defaultFrameBytes, preface } from './frames.ts'
import type { Field } from './hpack/static-table.ts'
import { Patience } from './patience.ts'
import { type RequestHead, requestHead } from './request-head.ts'
import { Http2Stream } from './stream.ts'

export interface ServerConnectionOptions {
  socket: Duplex
  maxStreams: number
  /** Milliseconds, of any beginning. */
  now(): number
  onRequest(stream: Http2Stream, head: RequestHead): void
  onClosed(): void
}

const streamWindow = 1 << 20
/** What all streams of a connection may send before anybody has read it. */
const connectionWindow = 16 << 20

/** The server's side of a connection. */
export class ServerConnection extends Connection {
  readonly #options: ServerConnectionOptions
  readonly #patience: Patience
  /** What of the preface is still to come. */
  #expected = Buffer.from(preface, 'latin1')
  #isLeaving = false

  constructor(options: ServerConnectionOptions) {
    super({ socket: options.socket, streamWindow, connectionWindow, maxFrameBytes: defaultFrameBytes, onClosed: () => options.onClosed() })
    this.#options = options
    this.#patience = new Patience(options.now)
    this.greet([[Setting.maxConcurrentStreams, options.maxStreams]])
  }

  /** Takes no more requests, and ends when those that are open have ended. */
  close(): void {
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.sayGoodbye(ErrorCode.noError)
    this.#leaveIfIdle()
  }

  override forget(stream: Http2Stream): void {
    super.forget(stream)
    this.#leaveIfIdle()
  }

  /** Who has its answer need not send the rest of its question. */
  override localEnded(stream: Http2Stream): void {
    stream.reset(ErrorCode.noError)
  }

  protected override received(bytes: Buffer): void {
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
      // Those at the end of a body, of which we make nothing.
      if (isEnd && !open.isRemoteEnded) open.remoteEnded()
      else this.blame(open, open.isRemoteEnded ? ErrorCode.streamClosed : ErrorCode.protocolError)
      return
    }
    if (id % 2 === 0) throw violation('a stream of a number that is not the client\'s')
    if (id > this.lastRemote) this.#begin(id, fields, isEnd)
  }

  protected override goaway(): void {}

  protected override abused(): void {
    if (!this.#patience.bear()) throw new Http2Error(ErrorCode.enhanceYourCalm, 'too much of what leads to nothing')
  }

  protected override isIdle(stream: number): boolean {
    return stream > this.lastRemote || stream % 2 === 0
  }

  #begin(id: number, fields: readonly Field[] | undefined, isEnd: boolean): void {
    this.lastRemote = id
    const stream = new Http2Stream(id, this, this.windows)
    this.expectReader()
    if (this.#isLeaving || this.streams.size >= this.#options.maxStreams) return this.blame(stream, ErrorCode.refusedStream)
    this.streams.set(id, stream)
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
