import { type IncomingMessage, ServerResponse, createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { ServerConnection, type TimeLimits } from '../../http2/index.ts'
import type { KeyPair } from '../auth/certificates.ts'
import type { Exchange } from './exchange.ts'
import { clientTrust, trustConnection } from './client-certificate.ts'
import { Http1Exchange } from './http1-exchange.ts'
import { Http2Exchange } from './http2-exchange.ts'
import { ConnectionCounts, type ConnectionLimits, defaultConnectionLimits } from './connection-counts.ts'
import { firstBytesMs, refusePlainHttp } from './plain-request.ts'
import { upgradeOf } from './upgrade.ts'

export interface ListenOptions {
  address: string
  /** 0 takes a free one. */
  port: number
  serving: KeyPair
  /** Certificates that client certificates may be signed by, in PEM. */
  clientAuthorities: readonly string[]
  /** Certificates that vouch for the front proxy, and for no user, in PEM. */
  proxyAuthorities?: readonly string[]
  handle(exchange: Exchange): Promise<void>
  /** How long a client may take to send a body. Default: Kubernetes' minute. */
  bodyTimeoutMs?: number
  /** How many connections there may be, of each address and in all. */
  limits?: ConnectionLimits
  /** Hears what is worth a line in the log; at most one each second. */
  warn?(message: string, fields: Record<string, unknown>): void
}

export interface Listener {
  port: number
  connections(): number
  /**
   * Shows connections that are opened from now on another certificate. Other authorities, where they are named, count
   * from the next request on: a client whose authority is gone is refused on its open connections too.
   */
  renew(serving: KeyPair, authorities?: Pick<ListenOptions, 'clientAuthorities' | 'proxyAuthorities'>): void
  /** Stops listening and ends every connection; what is being answered has until `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** A connection of HTTP/1.1 on which nothing is asked is kept for so long, as by Kubernetes: Node's five seconds would end many that are just about to be used. */
const idleMs = 90_000
/** How long a client of HTTP/1.1 may take for a request's headers, as Go's server that Kubernetes uses. */
const headersMs = 32_000
const timeLimits: TimeLimits = { prefaceMs: 10_000, frameMs: headersMs, idleMs, unreadMs: 120_000 }
const checkEveryMs = 5000
/** How many requests of one HTTP/2 connection may be open at once. */
const maxStreams = 1000

/** What is open: connections, those of HTTP/2 among them, and requests that are not answered to their end. */
interface Open {
  /** Below TLS, from the first byte on. */
  raw: Set<Socket>
  sockets: Set<TLSSocket>
  http2: Set<ServerConnection>
  answering: Set<object>
  /** The last of them has been answered. */
  onAnswered?: () => void
}

/** Serves HTTP/2 and HTTP/1.1 over TLS. */
export async function listen(options: ListenOptions): Promise<Listener> {
  let trust = clientTrust(options)
  const server = createServer({
    cert: options.serving.certificate,
    key: options.serving.key,
    ca: trust.all,
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['h2', 'http/1.1'],
    keepAliveTimeout: idleMs,
    handshakeTimeout: firstBytesMs,
    headersTimeout: headersMs,
  })
  const counts = new ConnectionCounts(options.limits ?? defaultConnectionLimits)
  const warn = oncePerSecond(options.warn)
  const open: Open = { raw: new Set(), sockets: new Set(), http2: new Set(), answering: new Set() }
  const serve: Serve = { handle: options.handle, bodyTimeoutMs: options.bodyTimeoutMs ?? 60_000, open }
  // Node's own way of accepting a connection, which is TLS.
  const [serveTls] = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const refusal = counts.add(address)
    if (refusal) {
      warn('a connection was refused', { address, why: refusal })
      return void socket.destroy()
    }
    open.raw.add(socket)
    socket.once('close', () => {
      open.raw.delete(socket)
      counts.remove(address)
    })
    refusePlainHttp(socket, (checked) => serveTls!.call(server, checked))
  })
  // Node's own way of serving a connection, which is HTTP/1.1.
  const [serveHttp1] = server.listeners('secureConnection')
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.setNoDelay(true)
    trustConnection(socket, () => trust)
    open.sockets.add(socket)
    socket.once('close', () => open.sockets.delete(socket))
    if (socket.alpnProtocol === 'h2') serveHttp2(socket, serve)
    else serveHttp1!.call(server, socket)
  })
  // A client that breaks off or speaks nonsense ends its own connection, nothing more.
  server.on('tlsClientError', () => {})
  server.on('clientError', (_error: Error, socket: { destroy(): void; end?(text: string): void; writable?: boolean }) => {
    if (socket.writable) socket.end?.('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    else socket.destroy()
  })
  server.setTimeout(0)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    open.answering.add(response)
    response.once('close', () => answered(open, response))
    void options.handle(new Http1Exchange(request, response, serve.bodyTimeoutMs))
  })
  server.on('upgrade', (request: IncomingMessage, socket: TLSSocket, head: Buffer) => {
    // The parser has let go of the connection: an ordinary answer is its last.
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.once('finish', () => socket.end())
    socket.on('error', () => socket.destroy())
    void options.handle(new Http1Exchange(request, response, serve.bodyTimeoutMs, upgradeOf(request, response, socket, head)))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.address, () => {
      server.off('error', reject)
      // A connection that cannot be accepted, for want of file descriptors, is the loss of its client alone.
      server.on('error', (error) => warn('a connection could not be accepted', { error }))
      resolve()
    })
  })
  const checking = setInterval(() => {
    for (const connection of Array.from(open.http2)) connection.checkTime(timeLimits)
  }, checkEveryMs).unref()
  server.once('close', () => clearInterval(checking))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => open.sockets.size,
    renew({ certificate, key }, authorities) {
      if (authorities) trust = clientTrust(authorities)
      server.setSecureContext({ cert: certificate, key, ca: trust.all, minVersion: 'TLSv1.2' })
    },
    close: (graceMs) => close(server, open, graceMs),
  }
}

/** The same, silent for a second after each line: who floods the server does not flood its log. */
function oncePerSecond(warn: ListenOptions['warn']): NonNullable<ListenOptions['warn']> {
  let nextMs = 0
  let left = 0
  return (message, fields) => {
    const now = performance.now()
    left++
    if (now < nextMs) return
    nextMs = now + 1000
    warn?.(message, left > 1 ? { ...fields, times: left } : fields)
    left = 0
  }
}

/** Serves HTTP/1.1 without TLS: for whoever shares the machine, and nobody else. */
export async function listenPlain({ address, port, handle }: Pick<ListenOptions, 'address' | 'port' | 'handle'>): Promise<Pick<Listener, 'port' | 'close'>> {
  const server = createPlainServer({ keepAliveTimeout: idleMs }, (request, response) => void handle(new Http1Exchange(request, response, 60_000)))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => {
      server.off('error', reject)
      server.on('error', () => {})
      resolve()
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Serve {
  handle: ListenOptions['handle']
  bodyTimeoutMs: number
  open: Open
}

function serveHttp2(socket: TLSSocket, { handle, bodyTimeoutMs, open }: Serve): void {
  const connection = new ServerConnection({
    socket,
    maxStreams,
    now: () => performance.now(),
    onRequest(stream, head) {
      open.answering.add(stream)
      void handle(new Http2Exchange(stream, head, { socket, bodyTimeoutMs, onClosed: () => answered(open, stream) }))
    },
    onClosed: () => open.http2.delete(connection),
  })
  open.http2.add(connection)
}

function answered(open: Open, answer: object): void {
  open.answering.delete(answer)
  if (open.answering.size === 0) open.onAnswered?.()
}

/** Waits for what is being answered, no longer than `graceMs`; connections that only wait for more are ended at once. */
async function close(server: Server, open: Open, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Tells clients not to ask on these connections any more; what they asked already is answered.
  for (const connection of open.http2) connection.close()
  if (open.answering.size > 0) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, graceMs)
      open.onAnswered = () => {
        clearTimeout(timer)
        // The last answer is still to be sent.
        setImmediate(resolve)
      }
    })
  }
  for (const socket of open.sockets) socket.destroy()
  for (const socket of open.raw) socket.destroy()
  await closed
}
