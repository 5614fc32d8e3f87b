import { onAbort } from '../base/on-abort.ts'
import type { Clock } from '../base/clock.ts'
import type { AnswerReceiver, ClientConnection, Field, Http2Stream } from '../http2/index.ts'
import { MessageReader, fillFrameHead, frameHeadBytes } from './framing.ts'
import type { Encodable, Decoded, MessageFields, MessageType } from './message.ts'
import { RpcError, statusOf, statusOfHttp } from './status.ts'

/** A method of a service: `path` is `/package.Service/Method`. */
export interface Method<Q extends MessageFields, A extends MessageFields> {
  readonly path: string
  readonly request: MessageType<Q>
  readonly response: MessageType<A>
}

export interface CallOptions {
  /** Fails the call with DeadlineExceeded after this time. Without it, a call has no deadline. */
  timeoutMs?: number | undefined
  /** Cancels the call. */
  signal?: AbortSignal | undefined
  /** Waits for a connection until the deadline. Otherwise the call fails as soon as an attempt to connect fails. */
  waitForReady?: boolean | undefined
  /** Further header fields, in lower case. */
  metadata?: Readonly<Record<string, string>> | undefined
}

/** Receives the messages and the status of a call. */
export interface CallReceiver<A> {
  /** Receives one message. False withholds flow-control credit from the server until `resume` is called. */
  message(message: A): unknown
  /** Called once, last, when the call is over: with undefined if it succeeded. */
  closed(error: RpcError | undefined): void
}

/** A call from its start to its status. */
export class Call<Q extends MessageFields, A extends MessageFields> {
  readonly #method: Method<Q, A>
  readonly #receiver: CallReceiver<Decoded<A>>
  readonly #frames: MessageReader<A>
  readonly #undo: (() => void)[] = []
  #stream: Http2Stream | undefined
  #cancelRequest: (() => void) | undefined
  /** Messages that were sent before the connection was open. */
  #unsent: Buffer[] = []
  #isEnding = false
  #httpStatus = 0
  #status: ReturnType<typeof statusOf>
  #isOver = false
  /** The flow-control credit that `resume` returns to the server. */
  #held = 0
  #isHeld = false

  constructor(
    method: Method<Q, A>,
    receiver: CallReceiver<Decoded<A>>,
    options: CallOptions,
    clock: Clock,
    maxMessageBytes: number,
  ) {
    this.#method = method
    this.#receiver = receiver
    this.#frames = new MessageReader(method.response, maxMessageBytes)
    const { timeoutMs, signal } = options
    if (timeoutMs !== undefined)
      this.#undo.push(
        clock.after(timeoutMs, () =>
          this.fail(new RpcError('DeadlineExceeded', `no answer within ${timeoutMs} ms`, !this.#cancelRequest)),
        ),
      )
    if (signal) this.#undo.push(onAbort(signal, () => this.cancel()))
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Sends a message. False if it is buffered: `onRoom` is called when the buffer is empty. */
  send(message: Encodable<Q>, isLast = false): boolean {
    if (this.#isEnding || this.#isOver) return true
    this.#isEnding = isLast
    const frame = fillFrameHead(this.#method.request.encode(message, frameHeadBytes))
    if (this.#stream) return this.#stream.send(frame, isLast)
    this.#unsent.push(frame)
    return false
  }

  /** Sets the callback for an empty buffer after `send` has returned false. */
  onRoom: (() => void) | undefined

  /** Ends the client's side of the call. The server may send further messages. */
  end(): void {
    if (this.#isEnding || this.#isOver) return
    this.#isEnding = true
    this.#stream?.send(nothing, true)
  }

  /** Cancels the call. */
  cancel(): void {
    this.fail(new RpcError('Canceled', 'the call was canceled', !this.#cancelRequest))
  }

  /** Returns the credit that was withheld for a message. */
  resume(): void {
    this.#isHeld = false
    const bytes = this.#held
    this.#held = 0
    if (bytes > 0) this.#stream?.credit(bytes)
  }

  /** Called by the channel with an open stream: sends the buffered messages. */
  start(connection: ClientConnection, fields: readonly Field[]): void {
    if (this.#isOver) return
    this.#cancelRequest = connection.request(
      { fields, body: undefined, onOpen: (stream) => this.#opened(stream) },
      this.#answer(),
    )
  }

  /** Called by the channel: ends the call with an error. */
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
      closed: (isUnsent) =>
        this.#close(
          new RpcError(
            'Unavailable',
            isUnsent ? 'the connection was closed' : 'the connection was lost before the answer was complete',
            isUnsent,
          ),
        ),
    }
  }

  #data(piece: Buffer): boolean {
    if (this.#isOver || this.#httpStatus !== 200) return true
    try {
      this.#frames.take(piece, (message) => {
        if (!this.#isOver && this.#receiver.message(message) === false) this.#isHeld = true
      })
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
      return this.#frames.isAmid ? new RpcError('Internal', 'the answer ends within a message') : undefined
    }
    if (this.#httpStatus !== 200)
      return new RpcError(
        statusOfHttp(this.#httpStatus),
        `unexpected HTTP status code received from server: ${this.#httpStatus}`,
      )
    return new RpcError('Internal', 'server closed the stream without sending trailers')
  }

  #close(error: RpcError | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const undo of this.#undo) undo()
    // Withheld credit counts against the window of the whole connection.
    this.resume()
    this.#receiver.closed(error)
  }
}

const nothing = Buffer.alloc(0)
