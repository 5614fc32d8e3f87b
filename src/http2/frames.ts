import { ErrorCode, Http2Error } from './errors.ts'

/** RFC 9113, section 6. */
export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const
export const Flag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const
export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const

/** The connection preface of a client. */
export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
export const defaultFrameBytes = 16_384
export const defaultWindow = 65_535
export const maxWindow = 0x7fffffff
const headBytes = 9

/**
 * The header of a frame. Frames are Latin-1 strings, one character for each byte, because one write copies them all.
 */
export const frameHead = (length: number, type: number, flags: number, stream: number): string =>
  String.fromCharCode(length >>> 16, (length >>> 8) & 255, length & 255, type, flags) + word(stream)

/** Encodes a 32-bit number. */
export const word = (n: number): string =>
  String.fromCharCode((n >>> 24) & 255, (n >>> 16) & 255, (n >>> 8) & 255, n & 255)

export const settingsFrame = (settings: readonly (readonly [number, number])[]): string =>
  frameHead(settings.length * 6, FrameType.settings, 0, 0) +
  settings.map(([id, value]) => String.fromCharCode(id >>> 8, id & 255) + word(value)).join('')

/** A HEADERS frame, with CONTINUATION frames if the block is too large for one. */
export function headersFrames(stream: number, block: string, isEnd: boolean, frameBytes: number): string {
  const flags = isEnd ? Flag.endStream : 0
  if (block.length <= frameBytes)
    return frameHead(block.length, FrameType.headers, flags | Flag.endHeaders, stream) + block
  let text = frameHead(frameBytes, FrameType.headers, flags, stream) + block.slice(0, frameBytes)
  for (let at = frameBytes; at < block.length; at += frameBytes) {
    const part = block.slice(at, at + frameBytes)
    text +=
      frameHead(part.length, FrameType.continuation, at + frameBytes >= block.length ? Flag.endHeaders : 0, stream) +
      part
  }
  return text
}

export interface Frame {
  type: number
  flags: number
  stream: number
  payload: Buffer
}

/** Receives the frames of a connection in order. */
export interface FrameEvents {
  /** A complete frame of any type except DATA. */
  frame(frame: Frame): void
  /**
   * The start of a DATA frame. `length` bytes count against the flow-control windows, of which `padding` are discarded.
   */
  dataBegins(stream: number, length: number, padding: number, flags: number): void
  /** A piece of a DATA frame as it arrives. */
  data(stream: number, piece: Buffer): void
  dataEnds(stream: number, flags: number): void
}

/** Splits the received bytes into frames. DATA is passed on in the pieces in which it arrives, without a copy. */
export class FrameReader {
  readonly #on: FrameEvents
  readonly #maxFrameBytes: number
  /** The start of an incomplete frame. */
  #rest: Buffer | undefined
  /** The DATA frame whose payload is arriving. */
  #data: { stream: number; flags: number; left: number; padding: number } | undefined

  constructor(on: FrameEvents, maxFrameBytes: number) {
    this.#on = on
    this.#maxFrameBytes = maxFrameBytes
  }

  /** True if a frame is incomplete. */
  get isAmid(): boolean {
    return this.#rest !== undefined || this.#data !== undefined
  }

  take(chunk: Buffer): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    this.#rest = undefined
    let at = 0
    while (at < bytes.length) {
      if (this.#data) {
        at = this.#readData(this.#data, bytes, at)
        continue
      }
      const next = this.#readFrame(bytes, at)
      if (next === at) break
      at = next
    }
    if (at < bytes.length) this.#rest = at === 0 ? bytes : bytes.subarray(at)
  }

  /** Reads one frame and returns the offset of the next; `at` if the frame is incomplete. */
  #readFrame(bytes: Buffer, at: number): number {
    if (bytes.length - at < headBytes) return at
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    if (length > this.#maxFrameBytes) throw new Http2Error(ErrorCode.frameSizeError, 'a frame is larger than allowed')
    const type = bytes[at + 3]!
    const flags = bytes[at + 4]!
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff
    if (type === FrameType.data) return this.#beginData(bytes, at + headBytes, { stream, length, flags })
    const end = at + headBytes + length
    if (end > bytes.length) return at
    this.#on.frame({ type, flags, stream, payload: bytes.subarray(at + headBytes, end) })
    return end
  }

  #beginData(
    bytes: Buffer,
    at: number,
    { stream, length, flags }: { stream: number; length: number; flags: number },
  ): number {
    if (!(flags & Flag.padded)) {
      this.#on.dataBegins(stream, length, 0, flags)
      this.#startPayload(stream, flags, length, 0)
      return at
    }
    if (length === 0) throw new Http2Error(ErrorCode.frameSizeError, 'a padded frame without a length of its padding')
    if (at === bytes.length) return at - headBytes
    const padding = bytes[at]!
    if (padding >= length) throw new Http2Error(ErrorCode.protocolError, 'a frame has more padding than bytes')
    this.#on.dataBegins(stream, length, padding + 1, flags)
    this.#startPayload(stream, flags, length - 1 - padding, padding)
    return at + 1
  }

  #startPayload(stream: number, flags: number, left: number, padding: number): void {
    if (left + padding === 0) this.#on.dataEnds(stream, flags)
    else this.#data = { stream, flags, left, padding }
  }

  #readData(
    data: { stream: number; flags: number; left: number; padding: number },
    bytes: Buffer,
    from: number,
  ): number {
    const end = Math.min(bytes.length, from + data.left)
    if (end > from) this.#on.data(data.stream, from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end))
    data.left -= end - from
    const skipped = Math.min(bytes.length - end, data.left === 0 ? data.padding : 0)
    data.padding -= skipped
    if (data.left === 0 && data.padding === 0) {
      this.#data = undefined
      this.#on.dataEnds(data.stream, data.flags)
    }
    return end + skipped
  }
}
