import { type Duplex, duplexPair } from 'node:stream'
import { Flag, type Frame, FrameType, frameHead, headersFrames, word } from './frames.ts'
import { HeaderDecoder } from './hpack/decoder.ts'
import { HeaderEncoder } from './hpack/encoder.ts'

export const frame = (type: number, stream: number, payload = '', flags = 0): string =>
  frameHead(payload.length, type, flags, stream) + payload
export const dataFrame = (stream: number, payload: string, flags = 0): string =>
  frame(FrameType.data, stream, payload, flags)
export const windowUpdate = (stream: number, bytes: number): string =>
  frame(FrameType.windowUpdate, stream, word(bytes))
export const resetFrame = (stream: number, code: number): string => frame(FrameType.rstStream, stream, word(code))
export const goawayFrame = (lastStream: number, code: number): string =>
  frame(FrameType.goaway, 0, word(lastStream) + word(code))

/** Runs everything that is ready. */
export const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Waits until the predicate holds, at most ten seconds. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it did not come to pass: ${what}`)
    await turn()
  }
}

/** The other side of a connection, which sends what a test specifies, byte by byte. */
export class RawPeer {
  /** The socket of the connection under test. */
  readonly socket: Duplex
  /** Received frames that were not read yet. */
  readonly frames: Frame[] = []
  readonly #own: Duplex
  readonly #encoder = new HeaderEncoder()
  readonly #decoder = new HeaderDecoder(1 << 20)
  /** The expected bytes before the first frame. */
  #expected: string
  #rest: Buffer = Buffer.alloc(0)
  #onNews: () => void = () => {}
  #pings = 0

  constructor(expected = '') {
    this.#expected = expected
    ;[this.#own, this.socket] = duplexPair()
    this.#own.on('data', (chunk: Buffer) => this.#take(chunk))
    this.socket.once('close', () => this.#onNews())
  }

  send(...texts: string[]): void {
    this.#own.write(Buffer.from(texts.join(''), 'latin1'))
  }

  end(): void {
    this.#own.end()
  }

  pause(): void {
    this.#own.pause()
  }

  resume(): void {
    this.#own.resume()
  }

  /** Encodes HEADERS with fields in the form `name=value`. */
  headers(stream: number, lines: readonly string[], isEnd = true): string {
    const fields = lines.map((line) => ({
      name: line.slice(0, line.indexOf('=', 1)),
      value: line.slice(line.indexOf('=', 1) + 1),
    }))
    return headersFrames(stream, this.#encoder.encode(fields), isEnd, 16_384)
  }

  /** The fields of the next HEADERS frame in order. */
  async nextHead(): Promise<{ stream: number; isEnd: boolean; fields: Record<string, string> }> {
    const { stream, flags, payload } = await this.next(FrameType.headers)
    return {
      stream,
      isEnd: Boolean(flags & Flag.endStream),
      fields: Object.fromEntries(this.#decoder.decode(payload)!.map(({ name, value }) => [name, value])),
    }
  }

  /** The next frame of a type. Other frames before it are skipped. Rejects when the connection is closed. */
  async next(type: number, isWanted: (frame: Frame) => boolean = () => true): Promise<Frame> {
    for (;;) {
      const at = this.frames.findIndex((frame) => frame.type === type && isWanted(frame))
      if (at >= 0) return this.frames.splice(at, 1)[0]!
      if (this.socket.destroyed) throw new Error(`the connection ended without a frame of type ${type}`)
      await new Promise<void>((resolve) => (this.#onNews = resolve))
    }
  }

  /** The error code of the next RST_STREAM or GOAWAY frame. */
  async nextCode(type: typeof FrameType.rstStream | typeof FrameType.goaway): Promise<number> {
    const { payload } = await this.next(type)
    return payload.readUInt32BE(payload.length - 4)
  }

  /** Resolves when everything that was sent has been read and acknowledged. */
  async roundTrip(): Promise<void> {
    const text = String(++this.#pings).padStart(8)
    this.send(frame(FrameType.ping, 0, text))
    await this.next(FrameType.ping, ({ flags, payload }) => Boolean(flags & Flag.ack) && payload.toString() === text)
  }

  #take(chunk: Buffer): void {
    let bytes = Buffer.concat([this.#rest, chunk])
    if (bytes.length < this.#expected.length) return void (this.#rest = bytes)
    if (bytes.toString('latin1', 0, this.#expected.length) !== this.#expected)
      throw new Error('the connection begins with something else')
    bytes = bytes.subarray(this.#expected.length)
    this.#expected = ''
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const end = 9 + bytes.readUIntBE(0, 3)
      this.frames.push({
        type: bytes[3]!,
        flags: bytes[4]!,
        stream: bytes.readUInt32BE(5),
        payload: bytes.subarray(9, end),
      })
      bytes = bytes.subarray(end)
    }
    this.#rest = bytes
    this.#onNews()
  }
}
