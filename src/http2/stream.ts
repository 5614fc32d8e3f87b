import type { Field } from './hpack/static-table.ts'
import { ErrorCode } from './errors.ts'

/** Receives the parts of a message in order. */
interface StreamReceiver {
  /** False withholds the flow-control credit for these bytes until `credit` is called. */
  data(piece: Buffer): unknown
  /** The message is complete. */
  end(): void
}

/** The part of the connection that a stream uses. */
export interface StreamHost {
  /** The maximum frame size of the peer. */
  readonly frameBytes: number
  /** The number of bytes that this stream may send now. */
  roomFor(stream: Http2Stream): number
  sendHeaders(stream: Http2Stream, fields: readonly Field[], isEnd: boolean): void
  sendData(stream: Http2Stream, piece: Buffer, isEnd: boolean): void
  sendReset(stream: Http2Stream, code: number): void
  /** Queues the stream to send its backlog once the window allows it. */
  waitForRoom(stream: Http2Stream): void
  /** Returns flow-control credit for received bytes. */
  credit(stream: Http2Stream, bytes: number): void
  /** This side has sent everything. */
  localEnded(stream: Http2Stream): void
  /** Both sides have ended the stream. */
  forget(stream: Http2Stream): void
}

const nothing = Buffer.alloc(0)

/** One HTTP/2 stream: a request and its response, from one side. */
export class Http2Stream {
  readonly id: number
  readonly #host: StreamHost
  /** The flow-control windows of the peer and of this side. */
  sendWindow: number
  receiveWindow: number
  /** The peer has reset the stream. */
  wasReset = false
  /** The number of bytes sent. */
  sentBytes = 0
  /** Bytes received whose credit was not returned yet. */
  uncredited = 0
  /** Called with the header fields of a response. */
  onHeaders: ((fields: readonly Field[]) => void) | undefined
  /** Called once when the stream is closed: with the code of a reset, or undefined if the connection was lost. */
  onClosed: ((code: number | undefined) => void) | undefined
  /** Called when the backlog is empty. */
  onRoom: (() => void) | undefined
  #receiver: StreamReceiver | undefined
  /** Data that arrived before a receiver was set. */
  #held: Buffer[] = []
  #queue: Buffer[] = []
  #queuedBytes = 0
  /** True if `send` has returned false and `onRoom` is due. */
  #hasWaited = false
  #isEnding = false
  #isLocalEnded = false
  #isRemoteEnded = false
  #isClosed = false

  constructor(id: number, host: StreamHost, windows: { send: number; receive: number }) {
    this.id = id
    this.#host = host
    this.sendWindow = windows.send
    this.receiveWindow = windows.receive
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get isRemoteEnded(): boolean {
    return this.#isRemoteEnded
  }

  /** True if nothing more can be sent. */
  get isEnding(): boolean {
    return this.#isEnding || this.#isClosed
  }

  /** The number of unsent bytes. */
  get backlog(): number {
    return this.#queuedBytes
  }

  /** Delivers buffered and future data to a receiver. */
  receive(receiver: StreamReceiver): void {
    // Reversed, so that `pop` takes the next piece at constant cost.
    if (!this.#receiver) this.#held.reverse()
    this.#receiver = receiver
    // A callback may reset the stream or set another receiver.
    while (this.#receiver === receiver && this.#held.length > 0) this.#hand(receiver, this.#held.pop()!)
    if (this.#receiver === receiver && this.#isRemoteEnded && !this.#isClosed) receiver.end()
  }

  /** Returns the credit for bytes that the receiver had withheld. */
  credit(bytes: number): void {
    this.#host.credit(this, bytes)
  }

  /** Discards buffered and future data. */
  discard(): void {
    this.receive({ data: () => {}, end: () => {} })
  }

  sendHeaders(fields: readonly Field[], isEnd: boolean): void {
    if (this.isEnding) return
    this.#isEnding = isEnd
    this.#host.sendHeaders(this, fields, isEnd)
    if (isEnd) this.#localEnded()
  }

  /** Sends data. False if it is buffered: `onRoom` is called when the buffer is empty. */
  send(piece: Buffer, isEnd = false): boolean {
    if (this.isEnding) return true
    this.#isEnding = isEnd
    if (piece.length > 0) this.#queue.push(piece)
    this.#queuedBytes += piece.length
    this.#pump()
    this.#hasWaited ||= this.#queuedBytes > 0
    return this.#queuedBytes === 0
  }

  /** Sends the backlog as far as the window allows. */
  resume(): void {
    if (!this.#isClosed) this.#pump()
  }

  /** Resets the stream. */
  reset(code: number): void {
    if (this.#isClosed) return
    this.#host.sendReset(this, code)
    this.close(code)
  }

  /** Called by the connection with received data. */
  take(piece: Buffer): void {
    if (this.#receiver) this.#hand(this.#receiver, piece)
    else this.#held.push(piece)
  }

  /** Called by the connection at the end of the message. */
  remoteEnded(): void {
    if (this.#isRemoteEnded || this.#isClosed) return
    this.#isRemoteEnded = true
    this.#receiver?.end()
    if (this.#isLocalEnded) this.close(ErrorCode.noError)
  }

  /** Called by the connection when the stream is closed. */
  close(code: number | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue = []
    this.#queuedBytes = 0
    for (const piece of this.#held.splice(0)) this.#host.credit(this, piece.length)
    this.#host.forget(this)
    this.onClosed?.(code)
  }

  #hand(receiver: StreamReceiver, piece: Buffer): void {
    if (receiver.data(piece) !== false) this.#host.credit(this, piece.length)
  }

  #pump(): void {
    while (this.#queue.length > 0) {
      const room = this.#host.roomFor(this)
      if (room <= 0) return this.#host.waitForRoom(this)
      this.#sendNext(Math.min(room, this.#host.frameBytes))
    }
    if (this.#isEnding && !this.#isLocalEnded) {
      this.#host.sendData(this, nothing, true)
      this.#localEnded()
    }
    if (!this.#hasWaited) return
    this.#hasWaited = false
    this.onRoom?.()
  }

  #sendNext(bytes: number): void {
    const next = this.#queue[0]!
    const isWhole = next.length <= bytes
    if (isWhole) this.#queue.shift()
    else this.#queue[0] = next.subarray(bytes)
    const piece = isWhole ? next : next.subarray(0, bytes)
    this.#queuedBytes -= piece.length
    this.sentBytes += piece.length
    const isEnd = this.#isEnding && this.#queue.length === 0
    this.#host.sendData(this, piece, isEnd)
    if (isEnd) this.#localEnded()
  }

  #localEnded(): void {
    this.#isLocalEnded = true
    if (this.#isRemoteEnded) this.close(ErrorCode.noError)
    else this.#host.localEnded(this)
  }
}
