import type { Duplex } from 'node:stream'
import { Connection, violation } from './connection.ts'
import { ErrorCode } from './errors.ts'
import { Setting, maxWindow, preface } from './frames.ts'
import type { Field } from './hpack/static-table.ts'
import { Http2Stream } from './stream.ts'

interface ClientConnectionOptions {
  socket: Duplex
  streamWindow: number
  connectionWindow: number
  /** Called when anything arrives. */
  onHeard(): void
  /** Called when the server accepts no more requests on this connection. */
  onLeaving(): void
  onClosed(error: Error | undefined): void
}

/** Receives a response in order. `closed` is called once, last. */
export interface AnswerReceiver {
  head(status: number, fields: readonly Field[]): void
  /** False withholds the flow-control credit for these bytes until the stream's `credit` is called. */
  data(piece: Buffer): unknown
  /** The trailers of a response. */
  trailers?(fields: readonly Field[]): void
  end(): void
  /** `isUnsent`: the server has not processed the request and never will. */
  closed(isUnsent: boolean): void
}

interface ClientRequest {
  fields: readonly Field[]
  body: Buffer | undefined
  /** Called with the open stream, on which it sends the body in any number of pieces. `body` is ignored then. */
  onOpen?(stream: Http2Stream): void
}

/** The receive window is large, because data is read as fast as it arrives. */
const maxFrameBytes = 1 << 20
/** The limit of concurrent streams until the server's settings arrive. Most servers allow at least this many. */
const firstMaxStreams = 100

/** The client side of an HTTP/2 connection. */
export class ClientConnection extends Connection {
  readonly #options: ClientConnectionOptions
  /** Requests that wait for a free stream. */
  readonly #pending = new Set<() => void>()
  #nextStream = 1
  #maxStreams = firstMaxStreams
  #isLimited = false
  #isLeaving = false
  #isReady = false
  #onReady: () => void = () => {}
  /** The last stream that a server in shutdown processes. */
  #lastStream = maxWindow

  constructor(options: ClientConnectionOptions) {
    super({ ...options, maxFrameBytes, onClosed: (error) => this.#gone(error) })
    this.#options = options
    this.output.add(preface)
    this.greet([[Setting.enablePush, 0]])
  }

  /** Resolves when the server's settings have arrived or the connection is closed. */
  ready(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isReady || this.isClosed) resolve()
      else this.#onReady = resolve
    })
  }

  get maxStreams(): number {
    return this.#maxStreams
  }

  /** True if another request can be sent now. */
  get isUsable(): boolean {
    return !this.#isLeaving && !this.isClosed && this.#nextStream < maxWindow
  }

  /** Accepts no more requests. The connection ends after the streams in progress. */
  close(): void {
    this.#isLeaving = true
    this.#startPending()
    this.#leaveIfIdle()
  }

  /** Sends a request. The returned function cancels it. */
  request(request: ClientRequest, answer: AnswerReceiver): () => void {
    if (!this.isUsable || this.streams.size < this.#maxStreams) return this.#open(request, answer)
    let cancel = (): void => {
      if (this.#pending.delete(start)) answer.closed(true)
    }
    const start = () => (cancel = this.#open(request, answer))
    this.#pending.add(start)
    return () => cancel()
  }

  override forget(stream: Http2Stream): void {
    super.forget(stream)
    this.#startPending()
    this.#leaveIfIdle()
  }

  protected override received(bytes: Buffer): void {
    this.#options.onHeard()
    super.received(bytes)
  }

  protected override headers(id: number, fields: readonly Field[] | undefined, isEnd: boolean): void {
    const stream = this.streams.get(id)
    if (!stream) {
      if (this.isIdle(id)) throw violation('an answer without a request')
      return
    }
    if (!fields) return stream.reset(ErrorCode.protocolError)
    stream.onHeaders?.(fields)
    if (isEnd) stream.remoteEnded()
  }

  protected override goaway(lastStream: number): void {
    this.#lastStream = lastStream
    this.#isLeaving = true
    this.#options.onLeaving()
    for (const stream of Array.from(this.streams.values()))
      if (stream.id > lastStream) stream.close(ErrorCode.refusedStream)
    this.#startPending()
    this.#leaveIfIdle()
  }

  protected override settings(id: number, value: number): void {
    if (id !== Setting.maxConcurrentStreams) return
    this.#maxStreams = value
    this.#isLimited = true
  }

  protected override settled(): void {
    // Without the setting the number of streams is unlimited.
    if (!this.#isLimited) this.#maxStreams = Number.POSITIVE_INFINITY
    this.#isReady = true
    this.#onReady()
    this.#startPending()
  }

  protected override isIdle(stream: number): boolean {
    return stream >= this.#nextStream || stream % 2 === 0
  }

  #open({ fields, body, onOpen }: ClientRequest, answer: AnswerReceiver): () => void {
    if (!this.isUsable) {
      let isTold = false
      const tell = () => {
        if (isTold) return
        isTold = true
        answer.closed(true)
      }
      // Deferred, so that the caller has the function to cancel it.
      queueMicrotask(tell)
      return tell
    }
    const stream = new Http2Stream(this.#nextStream, this, this.windows)
    this.#nextStream += 2
    this.streams.set(stream.id, stream)
    let hasHead = false
    stream.onHeaders = (received) => {
      const status = Number(received[0]?.name === ':status' ? received[0].value : 0)
      if (hasHead) return answer.trailers?.(received)
      // An informational response (1xx).
      if (status >= 100 && status < 200) return
      if (!(status >= 200 && status < 600)) return stream.reset(ErrorCode.protocolError)
      hasHead = true
      answer.head(status, received)
    }
    stream.onClosed = (code) => answer.closed(code === ErrorCode.refusedStream || stream.id > this.#lastStream)
    stream.receive({
      data: (piece) => {
        if (hasHead) return answer.data(piece)
      },
      end: () => {
        if (!hasHead) return stream.reset(ErrorCode.protocolError)
        answer.end()
        // After a complete response the server may never read the rest of the request.
        if (stream.backlog > 0 || !stream.isEnding) stream.reset(ErrorCode.noError)
      },
    })
    stream.sendHeaders(fields, body === undefined && !onOpen)
    if (onOpen) onOpen(stream)
    else if (body !== undefined) stream.send(body, true)
    return () => stream.reset(ErrorCode.cancel)
  }

  #gone(error: Error | undefined): void {
    this.#onReady()
    this.#startPending()
    this.#options.onClosed(error)
  }

  #startPending(): void {
    for (const start of Array.from(this.#pending)) {
      if (this.isUsable && this.streams.size >= this.#maxStreams) return
      this.#pending.delete(start)
      start()
    }
  }

  #leaveIfIdle(): void {
    if (this.#isLeaving && this.streams.size === 0 && this.#pending.size === 0) this.destroy()
  }
}
