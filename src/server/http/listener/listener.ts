import { type IncomingMessage, ServerResponse, createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type Clock, steadyClock } from '../../../base/clock.ts'
import { ServerConnection, type TimeLimits } from '../../../http2/index.ts'
import type { KeyPair } from '../../auth/certificates.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { clientTrust, trustConnection } from './client-certificate.ts'
import { Http1Exchange } from '../exchange/http1-exchange.ts'
import { Http2Exchange } from '../exchange/http2-exchange.ts'
import { ConnectionCounts, type ConnectionLimits, defaultConnectionLimits } from './connection-counts.ts'
import { firstBytesMs, refusePlainHttp } from '../exchange/plain-request.ts'
import { upgradeOf } from '../exchange/upgrade.ts'
import { type ReadLimits, UnreadSockets } from './unread-sockets.ts'

export interface ListenOptions {
  address: string
  /** 0 chooses a free port. */
  port: number
  serving: KeyPair
  /** The authorities of client certificates, in PEM. */
  clientAuthorities: readonly string[]
  /** The authorities of the front proxy's certificate, in PEM. They identify no users. */
  proxyAuthorities?: readonly string[]
  handle(exchange: Exchange): Promise<void>
  /** The time limit for a request body. Default: a minute, as in Kubernetes. */
  bodyTimeoutMs?: number
  /** The maximum numbers of connections, for each address and in total. */
  limits?: ConnectionLimits
  /** The clock of the time limits, which must be steady. */
  clock?: Clock
  /** Receives warnings for the log, at most one a second. */
  warn?(message: string, fields: Record<string, unknown>): void
}

export interface Listener {
  port: number
  connections(): number
  /**
   * Sets the serving certificate of new connections. Changed authorities apply from the next request on, also on open
   * connections.
   */
  renew(serving: KeyPair, authorities?: Pick<ListenOptions, 'clientAuthorities' | 'proxyAuthorities'>): void
  /** Stops listening and closes all connections. Pending requests have `graceMs` to complete. */
  close(graceMs: number): Promise<void>
}

/**
 * The idle timeout of HTTP/1.1 connections, as in Kubernetes. With Node's five seconds, many would end just before
 * their next request.
 */
const idleMs = 90_000
/** The time limit for the headers of an HTTP/1.1 request, as in Kubernetes. */
const headersMs = 32_000
const timeLimits: TimeLimits = { prefaceMs: 10_000, frameMs: headersMs, idleMs, unreadMs: 120_000 }
const readLimits: ReadLimits = { unreadMs: timeLimits.unreadMs, lingerMs: 10_000 }
const checkEveryMs = 5000
/** The maximum number of concurrent streams of an HTTP/2 connection. */
const maxStreams = 1000

/** Open connections and pending requests. */
interface Open {
  /** TCP connections below TLS. */
  raw: Set<Socket>
  sockets: Set<TLSSocket>
  http2: Set<ServerConnection>
  answering: Set<object>
  /** Called when the last pending request has completed. */
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
    // Uploads through a proxy may take long. A body that this server reads has a time limit of its own.
    requestTimeout: 0,
  })
  const { clock = steadyClock } = options
  const unread = new UnreadSockets(readLimits)
  const counts = new ConnectionCounts(options.limits ?? defaultConnectionLimits)
  const warn = oncePerSecond(options.warn)
  const open: Open = { raw: new Set(), sockets: new Set(), http2: new Set(), answering: new Set() }
  const serve: Serve = { handle: options.handle, bodyTimeoutMs: options.bodyTimeoutMs ?? 60_000, open, clock }
  // Node's connection handler, which starts TLS.
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
  // Node's handler of secure connections, which speaks HTTP/1.1.
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
  // An aborted or malformed handshake only ends its own connection.
  server.on('tlsClientError', () => {})
  server.on(
    'clientError',
    (_error: Error, socket: { destroy(): void; end?(text: string): void; writable?: boolean }) => {
      if (socket.writable) socket.end?.('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
      else socket.destroy()
    },
  )
  server.setTimeout(0)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    open.answering.add(response)
    response.once('close', () => answered(open, response))
    void options.handle(new Http1Exchange(request, response, serve.bodyTimeoutMs))
  })
  server.on('upgrade', (request: IncomingMessage, socket: TLSSocket, head: Buffer) => {
    // The parser has detached from the socket, so an ordinary response is its last.
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.once('finish', () => socket.end())
    socket.on('error', () => socket.destroy())
    void options.handle(
      new Http1Exchange(
        request,
        response,
        serve.bodyTimeoutMs,
        upgradeOf(request, response, socket, head, () => unread.allowPauses(socket)),
      ),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.address, () => {
      server.off('error', reject)
      // Failing to accept a connection, such as for lack of file descriptors, must not end the process.
      server.on('error', (error) => warn('a connection could not be accepted', { error }))
      resolve()
    })
  })
  let stopChecking = () => {}
  const check = () => {
    for (const connection of Array.from(open.http2)) connection.checkTime(timeLimits)
    unread.check(Array.from(open.raw), clock.now())
    unread.check(Array.from(open.sockets), clock.now())
    stopChecking = clock.after(checkEveryMs, check)
  }
  stopChecking = clock.after(checkEveryMs, check)
  server.once('close', () => stopChecking())
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

/** Limits warnings to one a second, so that a flood of connections does not flood the log. */
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

/** Serves HTTP/1.1 without TLS, for clients on this machine only. */
export async function listenPlain({
  address,
  port,
  handle,
}: Pick<ListenOptions, 'address' | 'port' | 'handle'>): Promise<Pick<Listener, 'port' | 'close'>> {
  const server = createPlainServer(
    { keepAliveTimeout: idleMs },
    (request, response) => void handle(new Http1Exchange(request, response, 60_000)),
  )
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
  clock: Clock
}

function serveHttp2(socket: TLSSocket, { handle, bodyTimeoutMs, open, clock }: Serve): void {
  const connection = new ServerConnection({
    socket,
    maxStreams,
    now: () => clock.now(),
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

/** Waits up to `graceMs` for pending requests. Idle connections are closed at once. */
async function close(server: Server, open: Open, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Sends GOAWAY: clients open no more streams, pending ones complete.
  for (const connection of open.http2) connection.close()
  if (open.answering.size > 0) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, graceMs)
      open.onAnswered = () => {
        clearTimeout(timer)
        // The last response is still being written.
        setImmediate(resolve)
      }
    })
  }
  for (const socket of open.sockets) socket.destroy()
  for (const socket of open.raw) socket.destroy()
  await closed
}
