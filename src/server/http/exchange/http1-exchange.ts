import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { ApiError } from '../../../api/errors.ts'
import type { Credentials } from '../../auth/authenticate.ts'
import {
  type Body,
  ClientGone,
  type Exchange,
  type Upgrade,
  bodyTooLarge,
  bodyTooSlow,
  isAsync,
  sendPieces,
} from './exchange.ts'
import { certificateOf } from '../listener/client-certificate.ts'
import { type Sink, lastChunk } from '../watch/watch-chunks.ts'

/** An HTTP/1.1 exchange. */
export class Http1Exchange implements Exchange {
  readonly method: string
  readonly url: string
  readonly upgrade: Upgrade | undefined
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #bodyTimeoutMs: number
  #abort: AbortController | undefined
  /** The body was rejected before its end, so the connection cannot be reused. */
  #isUnread = false
  #isAnswered = false

  constructor(request: IncomingMessage, response: ServerResponse, bodyTimeoutMs: number, upgrade?: Upgrade) {
    this.#request = request
    this.#response = response
    this.#bodyTimeoutMs = bodyTimeoutMs
    this.upgrade = upgrade
    this.method = request.method ?? ''
    this.url = request.url ?? '/'
    // 'close' follows every connection error. Without a listener the error would end the process.
    request.on('error', () => {})
    response.on('error', () => {})
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  headersLike(prefix: string): string[] {
    const found: string[] = []
    for (const name in this.#request.headers) if (name.startsWith(prefix)) found.push(name)
    return found
  }

  get certificate(): Credentials['certificate'] {
    const { socket } = this.#request
    return socket ? certificateOf(socket as TLSSocket) : undefined
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket?.remoteAddress
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController()
      this.#abort = abort
      if (this.#isGone()) abort.abort()
      else {
        // An answered request needs no abort, which costs a tenth of a small response.
        this.#response.once('close', () => {
          if (!this.#isAnswered) abort.abort()
        })
      }
    }
    return this.#abort.signal
  }

  readBody(limit: number): Promise<Buffer> {
    const request = this.#request
    const refuse = (why: ApiError) => {
      this.#isUnread = true
      return why
    }
    // Data after an upgrade request belongs to the other protocol.
    if (this.upgrade) return Promise.resolve(Buffer.alloc(0))
    const tooLarge = () => refuse(bodyTooLarge(limit))
    if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge())
    if (this.#isGone()) return Promise.reject(new ClientGone())
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      let isWhole = false
      const stop = () => {
        clearTimeout(timer)
        request.removeAllListeners('data')
        // The rest of the body is discarded; otherwise it would stay in memory.
        request.resume()
      }
      const timer = setTimeout(() => {
        stop()
        reject(refuse(bodyTooSlow()))
      }, this.#bodyTimeoutMs)
      request.on('data', (chunk: Buffer) => {
        size += chunk.length
        chunks.push(chunk)
        if (size <= limit) return
        stop()
        reject(tooLarge())
      })
      request.once('end', () => {
        isWhole = true
        clearTimeout(timer)
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
      })
      const gone = () => {
        if (isWhole) return
        clearTimeout(timer)
        reject(new ClientGone())
      }
      request.once('close', gone)
      request.once('error', gone)
    })
  }

  bodyStream(): Readable {
    return this.#request
  }

  respond(code: number, headers: Record<string, string | string[]>, body: Body): void {
    const response = this.#response
    if (this.#isGone() || response.writableEnded) return
    this.#isAnswered = true
    const closing = this.#isUnread ? { connection: 'close' } : {}
    const length = body.length === undefined ? {} : { 'content-length': String(body.length) }
    response.writeHead(code, { ...headers, ...length, ...closing })
    if (this.#isUnread) response.once('finish', () => this.#request.destroy())
    else if (!this.#request.complete && !this.upgrade) this.#limitRest()
    if (this.method === 'HEAD') return void response.end()
    if (isAsync(body.pieces)) void this.#sendMade(body.pieces)
    else this.#send(body.pieces[Symbol.iterator]())
  }

  /** Limits the time for the rest of a body that nobody reads. Node discards it after the response. */
  #limitRest(): void {
    const request = this.#request
    const timer = setTimeout(() => request.destroy(), this.#bodyTimeoutMs).unref()
    const stop = () => clearTimeout(timer)
    request.once('end', stop)
    request.once('close', stop)
  }

  #sendMade(pieces: AsyncIterable<Buffer>): Promise<void> {
    const response = this.#response
    return sendPieces(pieces, {
      isGone: () => this.#isGone(),
      write: (piece) => response.write(piece),
      room: () =>
        new Promise((resolve) => {
          const done = () => {
            response.off('drain', done)
            response.off('close', done)
            resolve()
          }
          response.on('drain', done)
          response.on('close', done)
        }),
      end: () => void response.end(),
      destroy: () => this.destroy(),
    })
  }

  /** Writes pieces at the client's pace. */
  #send(pieces: Iterator<Buffer>, first = pieces.next()): void {
    const response = this.#response
    let next = first
    while (!next.done) {
      const after = pieces.next()
      if (after.done) return void response.end(next.value)
      if (this.#isGone()) return
      if (!response.write(next.value)) return void response.once('drain', () => this.#send(pieces, after))
      next = after
    }
    response.end()
  }

  stream(code: number, headers: Record<string, string | string[]>): Sink {
    const response = this.#response
    response.writeHead(code, headers)
    // Watch chunks are already framed, once for all watchers.
    const isChunked = response.chunkedEncoding === true
    if (isChunked) response.chunkedEncoding = false
    response.flushHeaders?.()
    return {
      write: (chunk) => {
        if (!this.#isGone() && !response.writableEnded) response.write(isChunked ? chunk.framed : chunk.lines)
      },
      backlog: () => response.writableLength,
      onDrain: (resume) => void response.on('drain', resume),
      end: () => {
        if (!this.#isGone() && !response.writableEnded) response.end(isChunked ? lastChunk : undefined)
      },
    }
  }

  forward(code: number, headers: Record<string, string | string[]>, source: Readable): void {
    const response = this.#response
    response.writeHead(code, headers)
    response.flushHeaders?.()
    source.pipe(response)
    source.on('error', () => {})
    source.once('close', () => {
      // The source was truncated, so the client must not take the response for complete.
      if (!source.readableEnded) this.destroy()
    })
    response.once('close', () => source.destroy())
  }

  #isGone(): boolean {
    return this.#response.destroyed
  }

  destroy(): void {
    this.#response.destroy()
  }
}
