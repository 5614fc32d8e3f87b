import { onAbort } from '../base/on-abort.ts'
import type { Clock } from '../base/clock.ts'
import type { AnswerReceiver, ClientConnection, Field, Http2Stream } from '../http2/index.ts'
import { FrameReader, fillFrameHead, frameHeadBytes } from './framing.ts'
import type { Encodable, Decoded, MessageFields, MessageType } from './message.ts'
import { RpcError, statusOf, statusOfHttp } from './status.ts'

/** A method of a service: `path` is `/package.Service/Method`. */
export interface Method<Q extends MessageFields, A extends MessageFields> {
  readonly path: string
  readonly request: MessageType<Q>
  readonly response: MessageType<A>
}

export interface CallOptions {
  /** Fails the call with DeadlineExceeded after so long. Without it, a call may take for ever. */
  timeoutMs?: number | undefined
  /** Cancels the call. */
  signal?: AbortSignal | undefined
  /** Waits for a connection until the deadline, where a call would otherwise fail as soon as the server cannot be reached. */
  waitForReady?: boolean | undefined
  /** Further header fields, in lower case. */
  metadata?: Readonly<Record<string, string>> | undefined
}

/** Gets what the server sends. */
export interface CallReceiver<A> {
  /** One message. After `false` the server is held back once its window is full, until `resume` is called. */
  message(message: A): unknown
  /** The call is over: with nothing where it succeeded. Called once, last. */
  closed(error: RpcError | undefined): void
}

/** One call, from its first byte to its status. */
export class Call<Q extends MessageFields, A extends MessageFields> {
  readonly #method: Method<Q, A>
  readonly #receiver: CallReceiver<Decoded<A>>
  readonly #frames: FrameReader
  readonly #undo: (() => void)[] = []
  #stream: Http2Stream | undefined
  #cancelRequest: (() => void) | undefined
  /** Messages that were sent before there was a connection. */
  #unsent: Buffer[] = []
  #isEnding = false
  #httpStatus = 0
  #status: ReturnType<typeof statusOf>
  #isOver = false
  /** Bytes that the server may send again after `resume`. */
  #held = 0
  #isHeld = false

  constructor(method: Method<Q, A>, receiver: CallReceiver<Decoded<A>>, options: CallOptions, clock: Clock, maxMessageBytes: number) {
    this.#method = method
    this.#receiver = receiver
    this.#frames = new FrameReader(maxMessageBytes)
    const { timeoutMs, signal } = options
    if (timeoutMs !== undefined)
      this.#undo.push(clock.after(timeoutMs, () => this.fail(new RpcError('DeadlineExceeded', `no answer within ${timeoutMs} ms`, !this.#cancelRequest))))
    if (signal) this.#undo.push(onAbort(signal, () => this.cancel()))
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Sends a message. False if it has to wait for room: `onRoom` tells when all has gone. */
  send(message: Encodable<Q>, isLast = false): boolean {
    if (this.#isEnding || this.#isOver) return true
    this.#isEnding = isLast
    const frame = fillFrameHead(this.#method.request.encode(message, frameHeadBytes))
    if (this.#stream) return this.#stream.send(frame, isLast)
    this.#unsent.push(frame)
    return false
  }

  /** Called when all has gone for which `send` answered false. */
  onRoom: (() => void) | undefined

  /** No more messages from us; the server may go on. */
  end(): void {
    if (this.#isEnding || this.#isOver) return
    this.#isEnding = true
    this.#stream?.send(nothing, true)
  }

  /** Breaks the call off. */
  cancel(): void {
    this.fail(new RpcError('Canceled', 'the call was canceled', !this.#cancelRequest))
  }

  /** Lets the server go on, after a message that was answered with false. */
  resume(): void {
    this.#isHeld = false
    const bytes = this.#held
    this.#held = 0
    if (bytes > 0) this.#stream?.credit(bytes)
  }

  /** For the channel: sends what there is to send. */
  start(connection: ClientConnection, fields: readonly Field[]): void {
    if (this.#isOver) return
    this.#cancelRequest = connection.request({ fields, body: undefined, onOpen: (stream) => this.#opened(stream) }, this.#answer())
  }

  /** For the channel, too: ends the call with an error. */
  fail(error: RpcError): void {
    if (this.#isOver) return
    this.#close(error)
    this.#cancelRequest?.()
  }

  #opened(stream: Http2Stream): void {
    this.#stream = stream
    stream.onRoom = () => this.onRoom?.()
    const frames = this.#unsent
    this.#unsent = []
    for (const [i, frame] of frames.entries()) stream.send(frame, this.#isEnding && i === frames.length - 1)
    if (this.#isEnding && frames.length === 0) stream.send(nothing, true)
    if (stream.backlog === 0) this.onRoom?.()
  }

  #answer(): AnswerReceiver {
    return {
      head: (status, fields) => {
        this.#httpStatus = status
        this.#status = statusOf(fields)
      },
      data: (piece) => this.#data(piece),
      trailers: (fields) => (this.#status = statusOf(fields)),
      end: () => this.#close(this.#outcome()),
      closed: (isUnsent) => this.#close(new RpcError('Unavailable', isUnsent ? 'the connection was closed' : 'the connection was lost before the answer was complete', isUnsent)),
    }
  }

  #data(piece: Buffer): boolean {
    if (this.#isOver || this.#httpStatus !== 200) return true
    try {
      for (const bytes of this.#frames.take(piece)) {
        if (this.#isOver) return true
        if (this.#receiver.message(this.#method.response.decode(bytes)) === false) this.#isHeld = true
      }
    } catch (e) {
      this.fail(e instanceof RpcError ? e : new RpcError('Internal', (e as Error).message))
      return true
    }
    if (!this.#isHeld) return true
    this.#held += piece.length
    return false
  }

  #outcome(): RpcError | undefined {
    const status = this.#status
    if (status) {
      if (status.code !== 'OK') return new RpcError(status.code, status.detail)
      return this.#frames.isAmid ? new RpcError('Internal', 'the answer ends amid a message') : undefined
    }
    if (this.#httpStatus !== 200) return new RpcError(statusOfHttp(this.#httpStatus), `unexpected HTTP status code received from server: ${this.#httpStatus}`)
    return new RpcError('Internal', 'server closed the stream without sending trailers')
  }

  #close(error: RpcError | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const undo of this.#undo) undo()
    // What was held back counts for the whole connection.
    this.resume()
    this.#receiver.closed(error)
  }
}

const nothing = Buffer.alloc(0)
