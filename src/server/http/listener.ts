import { type Http2SecureServer, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session, constants, createSecureServer } from 'node:http2'
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { ApiError, entityTooLarge } from '../../api/errors.ts'
import type { Credentials } from '../auth/authenticate.ts'
import type { KeyPair } from '../auth/certificates.ts'
import type { Body, Exchange, Upgrade } from './exchange.ts'
import { upgradeOf } from './upgrade.ts'
import { lastChunk } from './watch-chunks.ts'
import type { Sink } from './watch-writer.ts'

export interface ListenOptions {
  address: string
  /** 0 takes a free one. */
  port: number
  serving: KeyPair
  /** Certificates that client certificates may be signed by, in PEM. */
  clientAuthorities: readonly string[]
  handle(exchange: Exchange): Promise<void>
  /** How long a client may take to send a body. Default: Kubernetes' minute. */
  bodyTimeoutMs?: number
}

export interface Listener {
  port: number
  connections(): number
  /** Stops listening and ends every connection; what is being answered has until `graceMs`. */
  close(graceMs: number): Promise<void>
}

type AnyRequest = IncomingMessage | Http2ServerRequest
type AnyResponse = ServerResponse | Http2ServerResponse

/** Serves HTTP/2 and HTTP/1.1 over TLS. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const server: Http2SecureServer = createSecureServer({
    allowHTTP1: true,
    cert: options.serving.certificate,
    key: options.serving.key,
    ca: [...options.clientAuthorities],
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    maxSessionMemory: 64,
    settings: { maxConcurrentStreams: 1000, initialWindowSize: 1 << 20 },
    unknownProtocolTimeout: 10_000,
  })
  const sockets = new Set<TLSSocket>()
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.setNoDelay(true)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // A client that breaks off or speaks nonsense ends its own connection, nothing more.
  server.on('sessionError', () => {})
  server.on('tlsClientError', () => {})
  server.on('clientError', (_error: Error, socket: { destroyed?: boolean; destroy(): void; end?(text: string): void; writable?: boolean }) => {
    if (socket.writable) socket.end?.('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    else socket.destroy()
  })
  server.setTimeout(0)
  const bodyTimeoutMs = options.bodyTimeoutMs ?? 60_000
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  const answering = new Set<AnyResponse>()
  server.on('request', (request: AnyRequest, response: AnyResponse) => {
    answering.add(response)
    response.once('close', () => answering.delete(response))
    void options.handle(new NodeExchange(request, response, bodyTimeoutMs))
  })
  server.on('upgrade', (request: IncomingMessage, socket: TLSSocket, head: Buffer) => {
    // The parser has let go of the connection: an ordinary answer is its last.
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.once('finish', () => socket.end())
    socket.on('error', () => socket.destroy())
    void options.handle(new NodeExchange(request, response, bodyTimeoutMs, upgradeOf(request, response, socket, head)))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.address, () => {
      server.off('error', reject)
      // A connection that cannot be accepted, for want of file descriptors, is the loss of its client alone.
      server.on('error', () => {})
      resolve()
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    close: (graceMs) => close(server, { sockets, sessions, answering }, graceMs),
  }
}

/** What is open: connections, HTTP/2 sessions on them, and answers that are not finished. */
interface Open {
  sockets: Set<TLSSocket>
  sessions: Set<ServerHttp2Session>
  answering: Set<AnyResponse>
}

/** Waits for what is being answered, no longer than `graceMs`; connections that only wait for more are ended at once. */
async function close(server: Http2SecureServer, open: Open, graceMs: number): Promise<void> {
  const { sockets, sessions, answering } = open
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Tells clients not to ask on these connections any more; what they asked already is answered.
  for (const session of sessions) session.close()
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, graceMs)
    const check = () => {
      if (answering.size > 0) return
      clearTimeout(timer)
      resolve()
    }
    for (const response of answering) response.once('close', () => setImmediate(check))
    check()
  })
  for (const socket of sockets) socket.destroy()
  await closed
}

const certificates = new WeakMap<TLSSocket, { subject: Credentials['certificate'] }>()

/** The subject of the client's certificate, read once a connection. */
function certificateOf(socket: TLSSocket): Credentials['certificate'] {
  let known = certificates.get(socket)
  if (!known) certificates.set(socket, (known = { subject: readCertificate(socket) }))
  return known.subject
}

function readCertificate(socket: TLSSocket): Credentials['certificate'] {
  if (!socket.authorized) return undefined
  const subject = socket.getPeerCertificate()?.subject as { CN?: string | string[]; O?: string | string[] } | undefined
  if (!subject?.CN) return undefined
  const { CN, O = [] } = subject
  return { commonName: Array.isArray(CN) ? CN[0]! : CN, organizations: Array.isArray(O) ? O : [O] }
}

class NodeExchange implements Exchange {
  readonly method: string
  readonly url: string
  readonly upgrade: Upgrade | undefined
  readonly #request: AnyRequest
  readonly #response: AnyResponse
  readonly #bodyTimeoutMs: number
  #abort: AbortController | undefined
  /** Part of the body was refused and never read, so the connection, or stream, is of no more use after the answer. */
  #isUnread = false
  #isAnswered = false

  constructor(request: AnyRequest, response: AnyResponse, bodyTimeoutMs: number, upgrade?: Upgrade) {
    this.#request = request
    this.#response = response
    this.#bodyTimeoutMs = bodyTimeoutMs
    this.upgrade = upgrade
    this.method = request.method ?? ''
    this.url = request.url ?? '/'
    // Errors of a connection end in 'close'; unheard, they would end the process.
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
    const socket = 'stream' in this.#request ? this.#request.stream?.session?.socket : this.#request.socket
    return socket ? certificateOf(socket as TLSSocket) : undefined
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController()
      this.#abort = abort
      if (this.#isGone()) abort.abort()
      else {
        // What was answered needs no abort, which costs a tenth of a small answer.
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
    // What follows such a request is the other protocol's.
    if (this.upgrade) return Promise.resolve(Buffer.alloc(0))
    const tooLarge = () => refuse(entityTooLarge(`Request entity too large: limit is ${limit}`))
    if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge())
    if (this.#isGone()) return Promise.reject(new ClientGone())
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      let isWhole = false
      const stop = () => {
        clearTimeout(timer)
        request.removeAllListeners('data')
        // What comes until the answer is out is thrown away: left unread, it would stay in the session's memory.
        request.resume()
      }
      const timer = setTimeout(() => {
        stop()
        reject(refuse(new ApiError(504, 'Timeout', 'Timeout: request did not complete within requested timeout', {})))
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

  respond(code: number, headers: Record<string, string | string[]>, body: Body): void {
    const response = this.#response as ServerResponse
    if (this.#isGone() || response.writableEnded) return
    this.#isAnswered = true
    const closing = this.#isUnread && !('stream' in this.#request) ? { connection: 'close' } : {}
    response.writeHead(code, { ...headers, 'content-length': String(body.length), ...closing })
    if (this.#isUnread) this.#refuseRestAfterAnswer()
    if (this.method === 'HEAD') return void response.end()
    this.#send(body.pieces[Symbol.iterator]())
  }

  /** Piece by piece, as fast as the client takes them. */
  #send(pieces: Iterator<Buffer>, first = pieces.next()): void {
    const response = this.#response as ServerResponse
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

  #refuseRestAfterAnswer(): void {
    if ('stream' in this.#request) {
      const { stream } = this.#request
      stream.once('finish', () => stream.close())
    } else {
      this.#response.once('finish', () => this.#request.destroy())
    }
  }

  stream(code: number, headers: Record<string, string | string[]>): Sink {
    const response = this.#response as ServerResponse
    response.writeHead(code, headers)
    // Chunks come framed already, once for all who get them.
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
    const response = this.#response as ServerResponse
    response.writeHead(code, headers)
    response.flushHeaders?.()
    source.pipe(response)
    source.on('error', () => {})
    source.once('close', () => {
      // It broke off: the client must not take the answer for whole.
      if (!source.readableEnded) this.destroy()
    })
    response.once('close', () => source.destroy())
  }

  #isGone(): boolean {
    return 'stream' in this.#request ? this.#request.stream.destroyed : this.#response.destroyed
  }

  destroy(): void {
    // Never the stream itself: node 20 aborts the process when it finds a destroyed stream whose end it has yet to send.
    if ('stream' in this.#request) this.#request.stream.close(constants.NGHTTP2_CANCEL)
    else this.#response.destroy()
  }
}

/** The client went away in the middle of its request: there is nobody to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone away')
    this.name = 'ClientGone'
  }
}

