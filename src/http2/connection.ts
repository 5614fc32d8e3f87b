import type { Duplex } from 'node:stream'
import { ErrorCode, Http2Error } from './errors.ts'
import {
  Flag,
  type Frame,
  type FrameEvents,
  FrameReader,
  FrameType,
  Setting,
  defaultFrameBytes,
  defaultWindow,
  frameHead,
  headersFrames,
  maxWindow,
  settingsFrame,
  word,
} from './frames.ts'
import { HeaderDecoder } from './hpack/decoder.ts'
import { HeaderEncoder } from './hpack/encoder.ts'
import type { Field } from './hpack/static-table.ts'
import { Output } from './output.ts'
import type { Http2Stream, StreamHost } from './stream.ts'

interface ConnectionOptions {
  socket: Duplex
  /** The receive windows of a stream and of the connection. */
  streamWindow: number
  connectionWindow: number
  maxFrameBytes: number
  /** Called once when the connection is closed, with the reason if there is one. */
  onClosed(error: Error | undefined): void
}

/** The maximum size of a header section. */
const maxHeaderBytes = 1 << 16
/**
 * The maximum of unsent output for a peer that causes responses and does not read. DATA is limited by the windows and
 * stays far below.
 */
const maxUnreadAnswers = 4 << 20
/**
 * A failing connection sends GOAWAY before it closes, unless more output than this is unsent, and closes after this
 * delay at the latest.
 */
const lingeringBytes = 1 << 16
const lingerMs = 1000
/** The frame size for sending. The peer may allow more, but all other streams wait for each frame. */
const maxSentFrameBytes = 1 << 18
/** Smaller DATA frames and window updates count as abusive unless they are few. */
const smallBytes = 64

/** The common part of both sides of an HTTP/2 connection (RFC 9113), except for the opening of streams. */
export abstract class Connection implements StreamHost, FrameEvents {
  protected readonly streams = new Map<number, Http2Stream>()
  protected readonly output: Output
  /** The highest stream id that the peer has opened. */
  protected lastRemote = 0
  protected readonly windows: { send: number; receive: number }
  readonly #socket: Duplex
  readonly #options: ConnectionOptions
  readonly #reader: FrameReader
  readonly #decoder = new HeaderDecoder(maxHeaderBytes)
  readonly #encoder = new HeaderEncoder()
  readonly #waiting = new Set<Http2Stream>()
  readonly #pings: ((isAnswered: boolean) => void)[] = []
  /** An incomplete header block; only CONTINUATION frames may follow. */
  #block: { stream: number; isEnd: boolean; parts: Buffer[]; bytes: number } | undefined
  #sendWindow = defaultWindow
  #receiveWindow: number
  #uncredited = 0
  #isClosed = false
  #error: Error | undefined
  frameBytes = defaultFrameBytes
  /** True once the peer's first SETTINGS frame has arrived. */
  #isGreeted = false

  constructor(options: ConnectionOptions) {
    const { socket, streamWindow, connectionWindow, maxFrameBytes } = options
    this.#options = options
    this.#socket = socket
    this.windows = { send: defaultWindow, receive: streamWindow }
    this.#receiveWindow = connectionWindow
    this.#reader = new FrameReader(this, maxFrameBytes)
    this.output = new Output(socket, () => this.#resumeWaiting())
    socket.on('data', (chunk: Buffer) => this.received(chunk))
    // HTTP/2 has no half-open connections.
    socket.on('end', () => socket.destroy())
    socket.on('error', (e) => (this.#error ??= e))
    socket.once('close', () => this.#closed())
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#socket.destroyed
  }

  /** Sends a ping. Resolves to true if the peer acknowledges it. */
  ping(): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.isClosed) return resolve(false)
      this.#pings.push(resolve)
      this.output.add(`${frameHead(8, FrameType.ping, 0, 0)}coxswain`)
    })
  }

  /**
   * The reason why the connection ended or is about to; undefined if there is none. Streams are closed before
   * `onClosed` is called.
   */
  get error(): Error | undefined {
    return this.#error
  }

  /** Closes the connection at once, without GOAWAY. */
  destroy(error?: Error): void {
    this.#error ??= error
    this.#socket.destroy()
  }

  /** Sends the first SETTINGS frame. */
  protected greet(settings: readonly (readonly [number, number])[]): void {
    const { streamWindow, connectionWindow, maxFrameBytes } = this.#options
    const own = [
      [Setting.initialWindowSize, streamWindow],
      [Setting.maxFrameSize, maxFrameBytes],
      [Setting.maxHeaderListSize, maxHeaderBytes],
    ] as const
    this.output.add(settingsFrame([...settings, ...own]))
    this.output.add(frameHead(4, FrameType.windowUpdate, 0, 0) + word(connectionWindow - defaultWindow))
  }

  /** Sends GOAWAY: the peer may open no more streams. Streams in progress continue. */
  protected sayGoodbye(code: number): void {
    this.output.add(frameHead(8, FrameType.goaway, 0, 0) + word(this.lastRemote) + word(code))
  }

  /** Ends the connection with an error of the peer. */
  protected fail(error: Http2Error): void {
    if (this.isClosed) return
    this.#error ??= error
    // The GOAWAY frame can only arrive if the peer reads.
    const isRead = this.#socket.writableLength < lingeringBytes
    this.sayGoodbye(error.code)
    this.output.flush()
    if (isRead) this.#socket.end(() => this.#socket.destroy())
    else this.#socket.destroy()
    const linger = setTimeout(() => this.#socket.destroy(), lingerMs).unref()
    this.#socket.once('close', () => clearTimeout(linger))
    // Received data is ignored from now on, and all streams are closed at once.
    this.#closed()
  }

  /** Resets a stream after an error of the peer. It counts against the peer like a reset of its own. */
  protected blame(stream: Http2Stream, code: number): void {
    this.abused()
    stream.reset(code)
  }

  /** Called before anything that sends a response: a peer that does not read must not cause more output. */
  protected expectReader(): void {
    if (this.output.backlog > maxUnreadAnswers)
      throw new Http2Error(ErrorCode.enhanceYourCalm, 'sends requests without reading the answers')
  }

  protected received(bytes: Buffer): void {
    if (this.isClosed) return
    try {
      this.#reader.take(bytes)
    } catch (e) {
      if (!(e instanceof Http2Error)) throw e
      this.fail(e)
    }
  }

  /** Decodes a header section or trailers; undefined if they exceed the limit. */
  protected abstract headers(stream: number, fields: readonly Field[] | undefined, isEnd: boolean): void
  protected abstract goaway(lastStream: number, code: number): void
  protected settings(_id: number, _value: number): void {}
  protected settled(): void {}
  /** Counts a frame that costs the sender less than the receiver. */
  protected abused(): void {}
  /** Counts a cheap frame. */
  protected trifled(): void {}
  /** Handles data of a closed stream. */
  protected afterEnd(_stream: number): void {}
  /** True if the peer has sent an incomplete frame or header block. */
  protected get isAmidFrame(): boolean {
    return this.#block !== undefined || this.#reader.isAmid
  }

  /** The number of unsent bytes of all streams. */
  protected get queuedBytes(): number {
    let bytes = 0
    for (const stream of this.streams.values()) bytes += stream.backlog
    return bytes
  }

  /** True if a stream with this id was ever opened. */
  protected abstract isIdle(stream: number): boolean

  // The methods that streams call.

  roomFor(stream: Http2Stream): number {
    return this.output.isCongested ? 0 : Math.min(stream.sendWindow, this.#sendWindow)
  }

  sendHeaders(stream: Http2Stream, fields: readonly Field[], isEnd: boolean): void {
    this.output.add(headersFrames(stream.id, this.#encoder.encode(fields), isEnd, this.frameBytes))
  }

  sendData(stream: Http2Stream, piece: Buffer, isEnd: boolean): void {
    stream.sendWindow -= piece.length
    this.#sendWindow -= piece.length
    this.output.add(frameHead(piece.length, FrameType.data, isEnd ? Flag.endStream : 0, stream.id))
    if (piece.length > 0) this.output.add(piece)
  }

  sendReset(stream: Http2Stream, code: number): void {
    this.output.add(frameHead(4, FrameType.rstStream, 0, stream.id) + word(code))
  }

  waitForRoom(stream: Http2Stream): void {
    this.#waiting.add(stream)
  }

  credit(stream: Http2Stream, bytes: number): void {
    this.#creditConnection(bytes)
    stream.uncredited += bytes
    if (stream.isClosed || stream.isRemoteEnded || stream.uncredited < this.windows.receive / 2) return
    this.#grant(stream.id, stream.uncredited)
    stream.receiveWindow += stream.uncredited
    stream.uncredited = 0
  }

  localEnded(_stream: Http2Stream): void {}

  forget(stream: Http2Stream): void {
    this.streams.delete(stream.id)
    this.#waiting.delete(stream)
  }

  // The handlers of frames.

  frame(frame: Frame): void {
    this.#expectSettings(frame.type)
    if (this.#block && (frame.type !== FrameType.continuation || frame.stream !== this.#block.stream))
      throw violation('another frame amid header fields')
    switch (frame.type) {
      case FrameType.headers:
        return this.#headersFrame(frame)
      case FrameType.continuation:
        return this.#continuation(frame)
      case FrameType.rstStream:
        return this.#reset(frame)
      case FrameType.settings:
        return this.#settingsFrame(frame)
      case FrameType.ping:
        return this.#ping(frame)
      case FrameType.goaway:
        if (frame.payload.length < 8) throw wrongSize()
        if (frame.stream !== 0) throw violation('a goodbye of a stream')
        return this.goaway(frame.payload.readUInt32BE(0) & maxWindow, frame.payload.readUInt32BE(4))
      case FrameType.windowUpdate:
        return this.#windowUpdate(frame)
      case FrameType.pushPromise:
        throw violation('an unexpected push')
      case FrameType.priority:
        return this.#priority(frame)
      default:
        // Unknown frame types are ignored (RFC 9113, section 5.5).
        return this.abused()
    }
  }

  #expectSettings(type: number): void {
    if (this.#isGreeted) return
    if (type !== FrameType.settings) throw violation('another frame before the settings')
    this.#isGreeted = true
  }

  /** Priorities are deprecated: they are validated, counted and ignored. */
  #priority({ stream: id, payload }: Frame): void {
    if (id === 0) throw violation('a priority of no stream')
    this.abused()
    if (payload.length === 5) return
    const stream = this.streams.get(id)
    if (!stream) throw wrongSize()
    this.blame(stream, ErrorCode.frameSizeError)
  }

  dataBegins(id: number, length: number, padding: number, flags: number): void {
    this.#expectSettings(FrameType.data)
    if (this.#block) throw violation('another frame amid header fields')
    if (id === 0 || this.isIdle(id)) throw violation('data of a stream that is not open')
    this.#receiveWindow -= length
    if (this.#receiveWindow < 0)
      throw new Http2Error(ErrorCode.flowControlError, 'more data than the connection may send')
    // Many clients end a body with an empty DATA frame.
    if (!(flags & Flag.endStream)) {
      if (length === padding) this.abused()
      else if (length - padding < smallBytes) this.trifled()
    }
    const stream = this.streams.get(id)
    if (!stream) {
      this.#creditConnection(padding)
      return this.afterEnd(id)
    }
    stream.receiveWindow -= length
    if (stream.isRemoteEnded) this.blame(stream, ErrorCode.streamClosed)
    else if (stream.receiveWindow < 0) this.blame(stream, ErrorCode.flowControlError)
    if (padding > 0) this.credit(stream, padding)
  }

  data(id: number, piece: Buffer): void {
    const stream = this.streams.get(id)
    if (stream) stream.take(piece)
    // Data in flight for a stream that was reset, perhaps by a callback for this very frame.
    else this.#creditConnection(piece.length)
  }

  dataEnds(id: number, flags: number): void {
    if (flags & Flag.endStream) this.streams.get(id)?.remoteEnded()
  }

  #headersFrame({ stream, flags, payload }: Frame): void {
    if (stream === 0) throw violation('header fields of no stream')
    let start = 0
    let end = payload.length
    if (flags & Flag.padded) {
      start = 1
      end -= payload[0] ?? 0
    }
    if (flags & Flag.priority) start += 5
    if (start > end) throw violation('a frame has more padding than bytes')
    const isEnd = Boolean(flags & Flag.endStream)
    const part = payload.subarray(start, end)
    if (flags & Flag.endHeaders) return this.headers(stream, this.#decoder.decode(part), isEnd)
    this.#block = { stream, isEnd, parts: [part], bytes: part.length }
  }

  #continuation({ flags, payload }: Frame): void {
    const block = this.#block
    if (!block) throw violation('more header fields of nothing')
    block.parts.push(payload)
    block.bytes += payload.length
    // Every frame counts, so that a block cannot continue endlessly with empty ones.
    if (block.bytes > maxHeaderBytes || block.parts.length > 64)
      throw new Http2Error(ErrorCode.enhanceYourCalm, 'too many header fields')
    if (!(flags & Flag.endHeaders)) return
    this.#block = undefined
    this.headers(block.stream, this.#decoder.decode(Buffer.concat(block.parts)), block.isEnd)
  }

  #reset({ stream, payload }: Frame): void {
    if (payload.length !== 4) throw wrongSize()
    if (stream === 0 || this.isIdle(stream)) throw violation('a reset of a stream that is not open')
    this.abused()
    const open = this.streams.get(stream)
    if (!open) return
    open.wasReset = true
    open.close(payload.readUInt32BE(0))
  }

  #settingsFrame({ stream, flags, payload }: Frame): void {
    if (stream !== 0) throw violation('settings of a stream')
    if (flags & Flag.ack) {
      if (payload.length > 0) throw wrongSize()
      return
    }
    if (payload.length % 6 !== 0) throw wrongSize()
    for (let at = 0; at < payload.length; at += 6) this.#setting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
    // The acknowledgement precedes frames that only the new settings allow.
    this.#answer(frameHead(0, FrameType.settings, Flag.ack, 0))
    this.#resumeWaiting()
    this.settled()
  }

  #setting(id: number, value: number): void {
    if (id === Setting.headerTableSize) this.#encoder.setTableBytes(value)
    else if (id === Setting.maxFrameSize) {
      if (value < defaultFrameBytes || value > 0xffffff) throw violation('frames of a size that is not allowed')
      this.frameBytes = Math.min(value, maxSentFrameBytes)
    } else if (id === Setting.initialWindowSize) {
      if (value > maxWindow) throw new Http2Error(ErrorCode.flowControlError, 'a window that is too large')
      const more = value - this.windows.send
      this.windows.send = value
      for (const stream of this.streams.values()) {
        stream.sendWindow += more
        if (stream.sendWindow > maxWindow) throw new Http2Error(ErrorCode.flowControlError, 'a window that cannot be')
      }
    } else if (id === Setting.enablePush && value > 1) throw violation('pushing that is neither on nor off')
    else this.settings(id, value)
  }

  #ping({ stream, flags, payload }: Frame): void {
    if (payload.length !== 8) throw wrongSize()
    if (stream !== 0) throw violation('a ping of a stream')
    if (flags & Flag.ack) this.#pings.shift()?.(true)
    else this.#answer(frameHead(8, FrameType.ping, Flag.ack, 0) + payload.toString('latin1'))
  }

  #windowUpdate({ stream: id, payload }: Frame): void {
    if (payload.length !== 4) throw wrongSize()
    const bytes = payload.readUInt32BE(0) & maxWindow
    if (bytes < smallBytes) this.trifled()
    if (id === 0) {
      this.#sendWindow += bytes
      if (bytes === 0 || this.#sendWindow > maxWindow)
        throw new Http2Error(
          bytes === 0 ? ErrorCode.protocolError : ErrorCode.flowControlError,
          'a window that cannot be',
        )
      return this.#resumeWaiting()
    }
    if (this.isIdle(id)) throw violation('a window of a stream that is not open')
    const stream = this.streams.get(id)
    if (!stream) return
    stream.sendWindow += bytes
    if (bytes === 0) this.blame(stream, ErrorCode.protocolError)
    else if (stream.sendWindow > maxWindow) this.blame(stream, ErrorCode.flowControlError)
    else this.#resume(stream)
  }

  /** Sends in round-robin order: a stream that must wait again goes to the end. */
  #resumeWaiting(): void {
    for (const stream of Array.from(this.#waiting)) {
      if (this.#sendWindow <= 0 || this.output.isCongested) return
      this.#resume(stream)
    }
  }

  #resume(stream: Http2Stream): void {
    if (this.#waiting.delete(stream)) stream.resume()
  }

  #creditConnection(bytes: number): void {
    this.#uncredited += bytes
    if (this.#uncredited < this.#options.connectionWindow / 2) return
    this.#grant(0, this.#uncredited)
    this.#receiveWindow += this.#uncredited
    this.#uncredited = 0
  }

  #grant(stream: number, bytes: number): void {
    this.output.add(frameHead(4, FrameType.windowUpdate, 0, stream) + word(bytes))
  }

  #answer(frame: string): void {
    this.abused()
    this.expectReader()
    this.output.add(frame)
  }

  #closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const stream of Array.from(this.streams.values())) stream.close(undefined)
    for (const answered of this.#pings.splice(0)) answered(false)
    this.#options.onClosed(this.#error)
  }
}

export const violation = (why: string): Http2Error => new Http2Error(ErrorCode.protocolError, why)
const wrongSize = () => new Http2Error(ErrorCode.frameSizeError, 'a frame is of a size that it cannot have')
