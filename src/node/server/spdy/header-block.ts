import { constants, createDeflate, createInflate } from 'node:zlib'
import { headerDictionary } from './dictionary.ts'

/** The maximum length of a header block. */
const longestBlock = 64 * 1024

/** Decodes the names and values of headers. Throws if the block is invalid. */
export function parseHeaders(block: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  let at = 4
  const text = () => {
    const length = block.readUInt32BE(at)
    if (at + 4 + length > block.length) throw new RangeError('a header exceeds its block')
    at += 4 + length
    return block.toString('utf8', at - length, at)
  }
  for (let left = block.readUInt32BE(0); left > 0; left--) {
    const name = text()
    headers.set(name.toLowerCase(), text())
  }
  return headers
}

/** Encodes the names and values of headers. */
export function formatHeaders(headers: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(headers)
  const text = (value: string): Buffer[] => [count(Buffer.byteLength(value)), Buffer.from(value, 'utf8')]
  return Buffer.concat([
    count(entries.length),
    ...entries.flatMap(([name, value]) => [...text(name.toLowerCase()), ...text(value)]),
  ])
}

const count = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value, 0)
  return bytes
}

/**
 * The header compression of one direction. Each block depends on the blocks before it, so they are processed in order.
 */
export class HeaderCodec {
  readonly #stream: ReturnType<typeof createDeflate> | ReturnType<typeof createInflate>
  #pieces: Buffer[] = []
  #size = 0

  constructor(direction: 'pack' | 'unpack') {
    const options = { dictionary: headerDictionary, flush: constants.Z_SYNC_FLUSH }
    this.#stream = direction === 'pack' ? createDeflate(options) : createInflate(options)
    this.#stream.on('data', (piece: Buffer) => {
      this.#size += piece.length
      if (this.#size <= longestBlock) this.#pieces.push(piece)
    })
    // The error is delivered to the caller that waits for the block.
    this.#stream.on('error', () => {})
  }

  async run(block: Buffer): Promise<Buffer> {
    await new Promise<void>((resolve, reject) => {
      this.#stream.once('error', reject)
      this.#stream.write(block, (error) => {
        this.#stream.off('error', reject)
        if (error) reject(error)
        else resolve()
      })
    })
    const whole = Buffer.concat(this.#pieces)
    if (this.#size > longestBlock) throw new RangeError('a block of headers is too long')
    this.#pieces = []
    this.#size = 0
    return whole
  }

  close(): void {
    this.#stream.destroy()
  }
}
