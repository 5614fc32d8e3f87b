import type { Field } from './hpack/static-table.ts'
import { ErrorCode } from './errors.ts'

/** Hears what comes on a stream, in order. */
export interface StreamReceiver {
  /** False keeps the other side from sending as much more: `credit` lets it do so later. */
  data(piece: Buffer): unknown
  /** All has come. */
  end(): void
}

/** What a stream needs of its connection. */
export interface StreamHost {
  /** The largest frame that the other side takes. */
  readonly frameBytes: number
  /** How many bytes of this stream may go now. */
  roomFor(stream: Http2Stream): number
  sendHeaders(stream: Http2Stream, fields: readonly Field[], isEnd: boolean): void
  sendData(stream: Http2Stream, piece: Buffer, isEnd: boolean): void
  sendReset(stream: Http2Stream, code: number): void
  /** What waits is tried again once there is room. */
  waitForRoom(stream: Http2Stream): void
  /** Bytes that came and were taken: as many more may come. */
  credit(stream: Http2Stream, bytes: number): void
  /** All that we had to say is said, or under way. */
  localEnded(stream: Http2Stream): void
  /** Both sides are done with it. */
  forget(stream: Http2Stream): void
}

const nothing = Buffer.alloc(0)

/** One request and its answer, seen from one side. */
export class Http2Stream {
  readonly id: number
  readonly #host: StreamHost
  /** How many bytes the other side takes, and how many we do. */
  sendWindow: number
  receiveWindow: number
  /** The other side has broken it off. */
  wasReset = false
  /** Bytes that have gone. */
  sentBytes = 0
  /** Taken, and not yet told. */
  uncredited = 0
  /** Answers' fields, for whoever asked. */
  onHeaders: ((fields: readonly Field[]) => void) | undefined
  /** It is over: with the code of a reset, or with nothing where the connection was lost. Called once. */
  onClosed: ((code: number | undefined) => void) | undefined
  /** All has gone that had to wait. */
  onRoom: (() => void) | undefined
  #receiver: StreamReceiver | undefined
  /** What has come before anybody wanted it. */
  #held: Buffer[] = []
  #queue: Buffer[] = []
  #queuedBytes = 0
  /** Somebody was told to wait. */
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

  /** Whether nothing more can be sent. */
  get isEnding(): boolean {
    return this.#isEnding || this.#isClosed
  }

  /** Bytes that wait for room. */
  get backlog(): number {
    return this.#queuedBytes
  }

  /** Takes what has come, and what will. */
  receive(receiver: StreamReceiver): void {
    // From its end, which costs the same for any number of pieces.
    if (!this.#receiver) this.#held.reverse()
    this.#receiver = receiver
    // Amid this it may be broken off, or given to another receiver.
    while (this.#receiver === receiver && this.#held.length > 0) this.#hand(receiver, this.#held.pop()!)
    if (this.#receiver === receiver && this.#isRemoteEnded && !this.#isClosed) receiver.end()
  }

  /** Bytes that a receiver had held back are taken now. */
  credit(bytes: number): void {
    this.#host.credit(this, bytes)
  }

  /** Throws away what has come, and what will. */
  discard(): void {
    this.receive({ data: () => {}, end: () => {} })
  }

  sendHeaders(fields: readonly Field[], isEnd: boolean): void {
    if (this.isEnding) return
    this.#isEnding = isEnd
    this.#host.sendHeaders(this, fields, isEnd)
    if (isEnd) this.#localEnded()
  }

  /** False if it has to wait: `onRoom` tells when all has gone. */
  send(piece: Buffer, isEnd = false): boolean {
    if (this.isEnding) return true
    this.#isEnding = isEnd
    if (piece.length > 0) this.#queue.push(piece)
    this.#queuedBytes += piece.length
    this.#pump()
    this.#hasWaited ||= this.#queuedBytes > 0
    return this.#queuedBytes === 0
  }

  /** There may be room for what waits. */
  resume(): void {
    if (!this.#isClosed) this.#pump()
  }

  /** Breaks it off. */
  reset(code: number): void {
    if (this.#isClosed) return
    this.#host.sendReset(this, code)
    this.close(code)
  }

  /** For the connection: something has come. */
  take(piece: Buffer): void {
    if (this.#receiver) this.#hand(this.#receiver, piece)
    else this.#held.push(piece)
  }

  /** For the connection: nothing more will come. */
  remoteEnded(): void {
    if (this.#isRemoteEnded || this.#isClosed) return
    this.#isRemoteEnded = true
    this.#receiver?.end()
    if (this.#isLocalEnded) this.close(ErrorCode.noError)
  }

  /** For the connection: it is over. */
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
