import { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { ErrorCode, type Field, type Http2Stream, type RequestHead } from '../../../http2/index.ts'
import type { Credentials } from '../../auth/authenticate.ts'
import { type Body, ClientGone, type Exchange, bodyTooLarge, bodyTooSlow, isAsync, sendPieces } from './exchange.ts'
import { certificateOf } from '../listener/client-certificate.ts'
import type { Sink } from '../watch/watch-chunks.ts'

interface Http2ExchangeOptions {
  socket: TLSSocket
  bodyTimeoutMs: number
  /** Called when the exchange is over, answered or not. */
  onClosed(): void
}

/** An HTTP/2 exchange. */
export class Http2Exchange implements Exchange {
  readonly method: string
  readonly url: string
  readonly upgrade = undefined
  readonly #stream: Http2Stream
  readonly #headers: RequestHead['headers']
  readonly #options: Http2ExchangeOptions
  #abort: AbortController | undefined
  #isAnswered = false
  /** Rejects a pending body read. */
  #onGone: (() => void) | undefined

  constructor(stream: Http2Stream, head: RequestHead, options: Http2ExchangeOptions) {
    this.#stream = stream
    this.#headers = head.headers
    this.#options = options
    this.method = head.method
    this.url = head.path
    stream.onClosed = () => this.#closed()
  }

  header(name: string): string | undefined {
    return this.#headers.get(name)
  }

  headersLike(prefix: string): string[] {
    const found: string[] = []
    for (const name of this.#headers.keys()) if (name.startsWith(prefix)) found.push(name)
    return found
  }

  get certificate(): Credentials['certificate'] {
    return certificateOf(this.#options.socket)
  }

  get remoteAddress(): string | undefined {
    return this.#options.socket.remoteAddress
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController()
      if (this.#stream.isClosed && !this.#isAnswered) this.#abort.abort()
    }
    return this.#abort.signal
  }

  readBody(limit: number): Promise<Buffer> {
    const stream = this.#stream
    const announced = this.#headers.get('content-length')
    if (Number(announced ?? 0) > limit) return Promise.reject(bodyTooLarge(limit))
    if (stream.isClosed) return Promise.reject(new ClientGone())
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = []
      let size = 0
      let isOver = false
      let timer: NodeJS.Timeout | undefined
      const refuse = (why: Error) => {
        isOver = true
        clearTimeout(timer)
        this.#onGone = undefined
        // The rest of the body is discarded.
        stream.discard()
        reject(why)
      }
      this.#onGone = () => {
        clearTimeout(timer)
        reject(new ClientGone())
      }
      stream.receive({
        data: (piece) => {
          size += piece.length
          pieces.push(piece)
          if (size > limit) refuse(bodyTooLarge(limit))
        },
        end: () => {
          isOver = true
          clearTimeout(timer)
          this.#onGone = undefined
          if (announced !== undefined && Number(announced) !== size) {
            stream.reset(ErrorCode.protocolError)
            return reject(new ClientGone())
          }
          resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
        },
      })
      if (!isOver) timer = setTimeout(() => refuse(bodyTooSlow()), this.#options.bodyTimeoutMs)
    })
  }

  bodyStream(): Readable {
    const stream = this.#stream
    let held = 0
    const release = () => {
      const bytes = held
      held = 0
      if (bytes > 0) stream.credit(bytes)
    }
    const body = new Readable({ read: release })
    // Flow control: the client sends more only as data is consumed.
    const data = (piece: Buffer): boolean => {
      const isTaken = body.push(piece)
      if (!isTaken) held += piece.length
      return isTaken
    }
    stream.receive({ data, end: () => void body.push(null) })
    this.#onGone = () => {
      // Returns the window to the connection's other streams.
      release()
      body.destroy(new ClientGone())
    }
    return body
  }

  respond(code: number, headers: Record<string, string | string[]>, body: Body): void {
    if (this.#stream.isEnding) return
    this.#isAnswered = true
    const isEmpty = this.method === 'HEAD' || body.length === 0
    this.#stream.sendHeaders(fieldsOf(code, headers, body.length), isEmpty)
    if (isEmpty) return
    if (isAsync(body.pieces)) void this.#sendMade(body.pieces)
    else this.#send(body.pieces[Symbol.iterator]())
  }

  #sendMade(pieces: AsyncIterable<Buffer>): Promise<void> {
    const stream = this.#stream
    return sendPieces(pieces, {
      isGone: () => stream.isClosed,
      write: (piece) => stream.send(piece),
      room: () =>
        new Promise((resolve) => {
          stream.onRoom = resolve
          this.#onGone = resolve
        }),
      end: () => void stream.send(Buffer.alloc(0), true),
      destroy: () => this.destroy(),
    })
  }

  /** Writes pieces at the client's pace. */
  #send(pieces: Iterator<Buffer>, first = pieces.next()): void {
    const stream = this.#stream
    for (let next = first; !next.done;) {
      const after = pieces.next()
      const isGone = stream.send(next.value, after.done)
      if (after.done) return
      if (!isGone) {
        stream.onRoom = () => this.#send(pieces, after)
        return
      }
      next = after
    }
  }

  stream(code: number, headers: Record<string, string | string[]>): Sink {
    const stream = this.#stream
    stream.sendHeaders(fieldsOf(code, headers), false)
    return {
      write: (chunk) => void stream.send(chunk.lines),
      backlog: () => stream.backlog,
      onDrain: (resume) => (stream.onRoom = resume),
      end: () => void stream.send(Buffer.alloc(0), true),
    }
  }

  forward(code: number, headers: Record<string, string | string[]>, source: Readable): void {
    const stream = this.#stream
    stream.sendHeaders(fieldsOf(code, headers), false)
    stream.onRoom = () => source.resume()
    source.on('data', (piece: Buffer) => {
      if (!stream.send(piece)) source.pause()
    })
    source.on('end', () => stream.send(Buffer.alloc(0), true))
    source.on('error', () => {})
    source.once('close', () => {
      // The source was truncated, so the client must not take the response for complete.
      if (!source.readableEnded) this.destroy()
    })
    this.signal.addEventListener('abort', () => source.destroy())
  }

  destroy(): void {
    this.#stream.reset(ErrorCode.cancel)
  }

  #closed(): void {
    this.#onGone?.()
    this.#onGone = undefined
    if (!this.#isAnswered) this.#abort?.abort()
    this.#options.onClosed()
  }
}

// oxlint-disable-next-line no-control-regex
const unfit = /[^\t\x20-\x7e\x80-\xff]/g

/** Replaces characters that are invalid in headers, such as line breaks. */
const clean = (value: string): string => value.replace(unfit, '?')

/** The Date header, formatted once a second. */
let dated: Field = { name: 'date', value: '' }
let datedSecond = 0

function fieldsOf(code: number, headers: Record<string, string | string[]>, length?: number): Field[] {
  const second = Math.floor(Date.now() / 1000)
  if (second !== datedSecond) {
    datedSecond = second
    dated = { name: 'date', value: new Date(second * 1000).toUTCString() }
  }
  const fields: Field[] = [{ name: ':status', value: String(code) }]
  for (const name in headers) {
    const value = headers[name]!
    if (typeof value === 'string') fields.push({ name: name.toLowerCase(), value: clean(value) })
    else for (const one of value) fields.push({ name: name.toLowerCase(), value: clean(one) })
  }
  if (length !== undefined) fields.push({ name: 'content-length', value: String(length) })
  fields.push(dated)
  return fields
}
