import type { Duplex } from 'node:stream'
import { Connection, violation } from './connection.ts'
import { ErrorCode } from './errors.ts'
import { Setting, maxWindow, preface } from './frames.ts'
import type { Field } from './hpack/static-table.ts'
import { Http2Stream } from './stream.ts'

export interface ClientConnectionOptions {
  socket: Duplex
  streamWindow: number
  connectionWindow: number
  /** Something came. */
  onHeard(): void
  /** The server takes no more requests here. */
  onLeaving(): void
  onClosed(error: Error | undefined): void
}

/** Gets an answer, in order; `closed` is last, and comes once. */
export interface AnswerReceiver {
  head(status: number, fields: readonly Field[]): void
  /** False keeps the server from sending as much more, until `credit` of the stream allows it. */
  data(piece: Buffer): unknown
  /** The fields at the end of an answer, of who sends some. */
  trailers?(fields: readonly Field[]): void
  end(): void
  /** `isUnsent`: the server has not looked at it, and never will. */
  closed(isUnsent: boolean): void
}

export interface ClientRequest {
  fields: readonly Field[]
  body: Buffer | undefined
  /** Gets the stream when it is open, and sends the body on it: any number of pieces, and an end. `body` is not used then. */
  onOpen?(stream: Http2Stream): void
}

/** We read as fast as it comes, so frames may be large. */
const maxFrameBytes = 1 << 20
/** Until the server has said what it allows; most allow at least this. */
const firstMaxStreams = 100

/** The client's side of a connection. */
export class ClientConnection extends Connection {
  readonly #options: ClientConnectionOptions
  /** What the server does not allow yet. */
  readonly #pending = new Set<() => void>()
  #nextStream = 1
  #maxStreams = firstMaxStreams
  #isLimited = false
  #isLeaving = false
  #isReady = false
  #onReady: () => void = () => {}
  /** Streams above this one were not looked at by a server that goes away. */
  #lastStream = maxWindow

  constructor(options: ClientConnectionOptions) {
    super({ ...options, maxFrameBytes, onClosed: (error) => this.#gone(error) })
    this.#options = options
    this.output.add(preface)
    this.greet([[Setting.enablePush, 0]])
  }

  /** Resolves when the server has said what it allows, or is gone. */
  ready(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isReady || this.isClosed) resolve()
      else this.#onReady = resolve
    })
  }

  get maxStreams(): number {
    return this.#maxStreams
  }

  /** Whether another request can still be sent. */
  get isUsable(): boolean {
    return !this.#isLeaving && !this.isClosed && this.#nextStream < maxWindow
  }

  /** Takes no more requests, and ends when those that are open have ended. */
  close(): void {
    this.#isLeaving = true
    this.#startPending()
    this.#leaveIfIdle()
  }

  /** The returned function breaks it off. */
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
      if (this.isIdle(id)) throw violation('an answer to nothing')
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
    for (const stream of Array.from(this.streams.values())) if (stream.id > lastStream) stream.close(ErrorCode.refusedStream)
    this.#startPending()
    this.#leaveIfIdle()
  }

  protected override settings(id: number, value: number): void {
    if (id !== Setting.maxConcurrentStreams) return
    this.#maxStreams = value
    this.#isLimited = true
  }

  protected override settled(): void {
    // Who says nothing of it allows any number.
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
      // After the caller has its way to cancel.
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
      // What comes before the answer.
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
        // A server that has answered may never take the rest of the question.
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
