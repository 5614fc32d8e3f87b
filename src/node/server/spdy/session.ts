import { Duplex } from 'node:stream'
import type { Connection } from '../connection.ts'
import { type Frame, FrameReader, controlFrame, dataFrame, finFlag, frameType, words } from './frames.ts'
import { HeaderCodec, formatHeaders, parseHeaders } from './header-block.ts'

const cancelled = 5
const invalidStream = 2
/** The maximum length of a data frame, because a client buffers each frame. */
const mostDataBytes = 32 * 1024
const mostStreams = 1000

/** A stream of a session, with the headers with which the client opened it. */
export class SpdyStream extends Duplex {
  readonly headers: ReadonlyMap<string, string>
  readonly #out: (content: Buffer, isLast: boolean, done: () => void) => void
  readonly #wanted: () => void
  readonly #reset: () => void

  constructor(
    headers: ReadonlyMap<string, string>,
    way: { out(content: Buffer, isLast: boolean, done: () => void): void; wanted(): void; reset(): void },
  ) {
    super({ allowHalfOpen: true })
    this.headers = headers
    this.#out = way.out
    this.#wanted = way.wanted
    this.#reset = way.reset
    this.on('error', () => {})
  }

  override _read(): void {
    this.#wanted()
  }

  override _write(content: Buffer, _encoding: string, done: () => void): void {
    this.#out(content, false, done)
  }

  override _final(done: () => void): void {
    this.#out(Buffer.alloc(0), true, done)
  }

  /** Ends both directions. Received data may still be read. */
  finish(): void {
    this.push(null)
    this.end()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.writableFinished || !this.readableEnded) this.#reset()
    done(error)
  }
}

/**
 * One side of SPDY/3.1, with the features that Kubernetes uses: clients open streams, and there is no window
 * accounting.
 */
export class SpdySession {
  readonly #connection: Connection
  readonly #reader = new FrameReader()
  readonly #unpack = new HeaderCodec('unpack')
  readonly #pack = new HeaderCodec('pack')
  readonly #streams = new Map<number, SpdyStream>()
  /** Streams whose reader is full. Nothing is read for any stream until all have drained. */
  readonly #full = new Set<number>()
  readonly #onStream: (stream: SpdyStream) => void
  readonly #isClient: boolean
  /** Frames are processed one after the other. */
  #work: Promise<void> = Promise.resolve()
  /** The id of the next stream that the client opens. */
  #nextId = 1
  #isOver = false

  /** Serves a connection from its first byte. `onStream` is called for each stream that the client opens. */
  static serve(connection: Connection, onStream: (stream: SpdyStream) => void): SpdySession {
    return new SpdySession(connection, onStream, false)
  }

  /** Creates the client side, which opens streams and accepts none. */
  static client(connection: Connection): SpdySession {
    return new SpdySession(connection, (stream) => stream.destroy(), true)
  }

  private constructor(connection: Connection, onStream: (stream: SpdyStream) => void, isClient: boolean) {
    this.#isClient = isClient
    this.#connection = connection
    this.#onStream = onStream
    connection.onMessage = (piece) => this.#read(piece)
    connection.onClose = () => this.#over()
  }

  close(): void {
    this.#connection.close()
  }

  /** Closes after all received data of the open streams was read. */
  closeWhenRead(): void {
    const left = [...this.#streams.values()].filter((stream) => !stream.readableEnded && !stream.destroyed)
    void Promise.all(
      left.map((stream) => new Promise<void>((resolve) => stream.once('end', resolve).once('close', resolve))),
    ).then(() => this.close())
  }

  /** Opens a stream on the client side. */
  async open(headers: Readonly<Record<string, string>>): Promise<SpdyStream> {
    if (this.#isOver) throw new Error('the connection is closed')
    const id = this.#nextId
    this.#nextId += 2
    const stream = this.#streamOf(id, new Map(Object.entries(headers)))
    const block = await this.#pack.run(formatHeaders(headers))
    this.#connection.send(controlFrame(frameType.synStream, 0, Buffer.concat([words(id, 0), Buffer.alloc(2), block])))
    return stream
  }

  #read(piece: Buffer): void {
    this.#work = this.#work
      .then(async () => {
        for (const frame of this.#reader.push(piece)) await this.#take(frame)
      })
      .catch(() => {
        // The client uses another protocol, so it would not understand an error message.
        this.close()
        this.#over()
      })
  }

  #over(): void {
    this.#isOver = true
    const streams = [...this.#streams.values()]
    this.#streams.clear()
    for (const stream of streams) this.#end(stream)
    this.#unpack.close()
    this.#pack.close()
  }

  async #take(frame: Frame): Promise<void> {
    if (frame.kind === 'data') return this.#data(frame.streamId, frame.flags, frame.content)
    const { type, flags, content } = frame
    if (type === frameType.synStream) return this.#open(content, flags)
    if (type === frameType.rstStream) return this.#forget(content.readUInt32BE(0))
    if (type === frameType.ping) return void this.#connection.send(controlFrame(type, 0, content))
    // Later headers of a stream are ignored, but must pass through the decompression.
    if (type === frameType.headers || type === frameType.synReply) await this.#unpack.run(content.subarray(4))
  }

  async #open(content: Buffer, flags: number): Promise<void> {
    const id = content.readUInt32BE(0) & 0x7fffffff
    const headers = parseHeaders(await this.#unpack.run(content.subarray(10)))
    if (this.#streams.has(id) || this.#streams.size >= mostStreams)
      return void this.#connection.send(controlFrame(frameType.rstStream, 0, words(id, invalidStream)))
    const stream = this.#streamOf(id, headers)
    this.#connection.send(
      controlFrame(frameType.synReply, 0, Buffer.concat([words(id), await this.#pack.run(words(0))])),
    )
    if (flags & finFlag) stream.push(null)
    this.#onStream(stream)
  }

  #streamOf(id: number, headers: ReadonlyMap<string, string>): SpdyStream {
    const stream = new SpdyStream(headers, {
      out: (bytes, isLast, done) => this.#send(id, bytes, isLast, done),
      wanted: () => this.#wanted(id),
      reset: () => this.#reset(id),
    })
    this.#streams.set(id, stream)
    stream.once('close', () => this.#streams.delete(id))
    // An ended stream is not read again, so the other streams must not wait for it.
    stream.once('end', () => this.#wanted(id))
    return stream
  }

  #data(id: number, flags: number, content: Buffer): void {
    const stream = this.#streams.get(id)
    if (!stream || stream.readableEnded || stream.destroyed) return
    if (content.length > 0 && !stream.push(Buffer.from(content))) {
      this.#full.add(id)
      this.#connection.pause()
    }
    if (flags & finFlag) stream.push(null)
  }

  #wanted(id: number): void {
    if (this.#full.delete(id) && this.#full.size === 0) this.#connection.resume()
  }

  #send(id: number, content: Buffer, isLast: boolean, done: () => void): void {
    let hasRoom = true
    for (let at = 0; at < content.length; at += mostDataBytes)
      hasRoom = this.#connection.send(dataFrame(id, 0, content.subarray(at, at + mostDataBytes)))
    if (isLast) this.#connection.send(dataFrame(id, finFlag, Buffer.alloc(0)))
    if (hasRoom) done()
    else this.#connection.drained(done)
  }

  #reset(id: number): void {
    this.#wanted(id)
    if (this.#streams.delete(id)) this.#connection.send(controlFrame(frameType.rstStream, 0, words(id, cancelled)))
  }

  #forget(id: number): void {
    const stream = this.#streams.get(id)
    this.#streams.delete(id)
    this.#wanted(id)
    if (stream) this.#end(stream)
  }

  /** Kubernetes' servers reset a stream after its last data. Clients treat that as its end. */
  #end(stream: SpdyStream): void {
    if (this.#isClient) stream.finish()
    else stream.destroy()
  }
}
