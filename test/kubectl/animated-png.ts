import { crc32 } from 'node:zlib'

/** A still picture and for how long it is shown. */
export interface Frame {
  png: Buffer
  seconds: number
}

interface Chunk {
  type: string
  data: Buffer
}

/** The chunks of a PNG file, after its eight bytes of signature. */
function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = []
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  return chunks
}

function bytesOf({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

const numbers = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, i) => bytes.writeUInt32BE(value, i * 4))
  return bytes
}

/** Makes one animated PNG that repeats, of pictures of the same size. Their compressed bytes are taken as they are. */
export function animatedPng(frames: readonly Frame[]): Buffer {
  const [first, ...rest] = frames.map(({ png }) => chunksOf(png))
  const header = first!.find(({ type }) => type === 'IHDR')!
  const isSame = (other: Chunk[]) => other.find(({ type }) => type === 'IHDR')!.data.equals(header.data)
  if (!rest.every(isSame)) throw new Error('the pictures have not the same size and format')
  let sequence = 0
  const control = (seconds: number): Chunk => {
    const size = numbers(sequence++, header.data.readUInt32BE(0), header.data.readUInt32BE(4), 0, 0)
    const delay = Buffer.alloc(6)
    delay.writeUInt16BE(seconds * 10, 0)
    delay.writeUInt16BE(10, 2)
    return { type: 'fcTL', data: Buffer.concat([size, delay]) }
  }
  const shown = frames.flatMap(({ png, seconds }, i) => {
    const pixels = chunksOf(png).filter(({ type }) => type === 'IDAT')
    const later = ({ data }: Chunk): Chunk => ({ type: 'fdAT', data: Buffer.concat([numbers(sequence++), data]) })
    return [control(seconds), ...pixels.map((chunk) => (i === 0 ? chunk : later(chunk)))]
  })
  const chunks = [header, { type: 'acTL', data: numbers(frames.length, 0) }, ...shown, { type: 'IEND', data: Buffer.alloc(0) }]
  return Buffer.concat([frames[0]!.png.subarray(0, 8), ...chunks.map(bytesOf)])
}
