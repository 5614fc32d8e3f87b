import { createHash } from 'node:crypto'
import { PlainConnection } from './connection.ts'

/** RFC 6455's own. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** What a server answers to a client's key. */
export const acceptKey = (key: string): string => createHash('sha1').update(key + acceptSuffix).digest('base64')

const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

const longestMessage = 16 << 20

const normalClosure = 1000
const protocolError = 1002
const messageTooBig = 1009

/** A frame as a server sends it: whole and unmasked. */
export function serverFrame(op: number, content: Buffer): Buffer {
  const { length } = content
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = 0x80 | op
  if (length < 126) head[1] = length
  else if (length < 65_536) {
    head[1] = 126
    head.writeUInt16BE(length, 2)
  } else {
    head[1] = 127
    head.writeBigUInt64BE(BigInt(length), 2)
  }
  return Buffer.concat([head, content])
}

export interface ClientFrame {
  op: number
  isFinal: boolean
  content: Buffer
}

/** A client that does not keep to the protocol; the code is for its closing frame. */
export class WebSocketError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'WebSocketError'
    this.code = code
  }
}

/** Puts frames of a client together from the pieces they come in. */
export class FrameParser {
  #rest: Buffer = Buffer.alloc(0)

  push(piece: Buffer): ClientFrame[] {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    const frames: ClientFrame[] = []
    for (let frame = this.#next(); frame; frame = this.#next()) frames.push(frame)
    return frames
  }

  #next(): ClientFrame | undefined {
    const bytes = this.#rest
    if (bytes.length < 2) return undefined
    if ((bytes[1]! & 0x80) === 0) throw new WebSocketError(protocolError, 'a frame of a client is not masked')
    const short = bytes[1]! & 0x7f
    const lengthEnd = short === 126 ? 4 : short === 127 ? 10 : 2
    if (bytes.length < lengthEnd) return undefined
    const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
    if (length > longestMessage) throw new WebSocketError(messageTooBig, 'a frame is too long')
    const start = lengthEnd + 4
    if (bytes.length < start + length) return undefined
    const content = Buffer.from(bytes.subarray(start, start + length))
    for (let i = 0; i < length; i++) content[i]! ^= bytes[lengthEnd + (i & 3)]!
    this.#rest = bytes.subarray(start + length)
    return { op: bytes[0]! & 0x0f, isFinal: (bytes[0]! & 0x80) !== 0, content }
  }
}

/** The server's side of a WebSocket, after the handshake. */
export class WebSocketConnection extends PlainConnection {
  readonly #parser = new FrameParser()
  /** Of a message that is not whole yet. */
  #parts: Buffer[] = []
  #isClosing = false

  override send(message: Buffer): boolean {
    return this.#isClosing || super.send(serverFrame(opcode.binary, message))
  }

  override close(code = normalClosure): void {
    if (this.#isClosing) return
    this.#isClosing = true
    const content = Buffer.alloc(2)
    content.writeUInt16BE(code)
    super.send(serverFrame(opcode.close, content))
    super.close()
  }

  protected override received(piece: Buffer): void {
    try {
      for (const frame of this.#parser.push(piece)) this.#take(frame)
    } catch (e) {
      if (!(e instanceof WebSocketError)) throw e
      this.close(e.code)
    }
  }

  #take({ op, isFinal, content }: ClientFrame): void {
    if (this.#isClosing) return
    if (op === opcode.ping) return void super.send(serverFrame(opcode.pong, content))
    if (op === opcode.close) {
      this.close()
      return this.onClose()
    }
    if (op !== opcode.binary && op !== opcode.text && op !== opcode.continuation) return
    this.#parts.push(content)
    if (this.#parts.reduce((sum, part) => sum + part.length, 0) > longestMessage) throw new WebSocketError(messageTooBig, 'a message is too long')
    if (!isFinal) return
    const message = this.#parts.length === 1 ? content : Buffer.concat(this.#parts)
    this.#parts = []
    this.onMessage(message)
  }
}
