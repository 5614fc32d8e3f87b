export const frameType = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const

export const finFlag = 1

const version = 3
const headBytes = 8

/** A received frame. A control frame has a type; other frames have data of a stream. */
export type Frame =
  | { kind: 'control'; type: number; flags: number; content: Buffer }
  | { kind: 'data'; streamId: number; flags: number; content: Buffer }

/** Assembles frames from chunks. Throws for another protocol version. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  push(piece: Buffer): Frame[] {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    const frames: Frame[] = []
    for (let frame = this.#next(); frame; frame = this.#next()) frames.push(frame)
    return frames
  }

  #next(): Frame | undefined {
    const bytes = this.#rest
    if (bytes.length < headBytes) return undefined
    const end = headBytes + bytes.readUIntBE(5, 3)
    if (bytes.length < end) return undefined
    const content = bytes.subarray(headBytes, end)
    const flags = bytes[4]!
    const first = bytes.readUInt32BE(0)
    this.#rest = bytes.subarray(end)
    if (first < 0x80000000) return { kind: 'data', streamId: first, flags, content }
    if (bytes.readUInt16BE(0) !== (0x8000 | version))
      throw new RangeError(`unsupported frame version ${bytes.readUInt16BE(0) & 0x7fff} are not understood`)
    return { kind: 'control', type: bytes.readUInt16BE(2), flags, content }
  }
}

function withHead(first: number, flags: number, content: Buffer): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32BE(first, 0)
  head.writeUInt8(flags, 4)
  head.writeUIntBE(content.length, 5, 3)
  return Buffer.concat([head, content])
}

export const controlFrame = (type: number, flags: number, content: Buffer): Buffer =>
  withHead((0x8000 | version) * 0x10000 + type, flags, content)

export const dataFrame = (streamId: number, flags: number, content: Buffer): Buffer =>
  withHead(streamId, flags, content)

/** Encodes numbers with four bytes each, as in control frames. */
export function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4)
  return bytes
}
