import { request } from 'node:http'
import { request as secureRequest } from 'node:https'
import { type Socket, connect, isIP } from 'node:net'
import { type TLSSocket, connect as connectTls } from 'node:tls'
import type { Clock } from '../../base/clock.ts'
import type { ClientCertificate, ClusterAccess } from '../transport/access.ts'
import { onAbort } from '../../base/on-abort.ts'
import { bareHost, portOf } from './proxy-choice.ts'

export interface DialOptions {
  access: ClusterAccess
  /** The proxy; undefined for a direct connection. */
  proxy: URL | undefined
  certificate: ClientCertificate | undefined
  /** Supported protocols in order of preference. */
  protocols: readonly ('h2' | 'http/1.1')[]
  clock: Clock
  timeoutMs: number
  signal: AbortSignal
}

/** Idle time before the kernel sends keep-alive probes. */
const keepAliveMs = 30_000

/** Opens a connection, through the proxy if there is one, and with TLS if the server's URL is https. */
export function dial(options: DialOptions): Promise<Socket> {
  const { access, proxy, clock, timeoutMs, signal } = options
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    let abandon = () => {}
    const settle = () => {
      cancelTimer()
      forgetSignal()
    }
    const fail = (error: Error) => {
      settle()
      abandon()
      reject(error)
    }
    const cancelTimer = clock.after(timeoutMs, () => fail(new Error(`no connection within ${timeoutMs / 1000} s`)))
    const forgetSignal = onAbort(signal, () => fail(signal.reason as Error))
    const secure = (carrier: Socket | undefined) => {
      try {
        const socket =
          access.server.protocol === 'https:' ? openTls(options, carrier) : openPlain(access.server, carrier)
        abandon = () => void socket.destroy()
        socket.setNoDelay(true)
        socket.setKeepAlive(true, keepAliveMs)
        socket.on('error', fail)
        const done = () => {
          settle()
          socket.off('error', fail)
          resolve(socket)
        }
        if (socket === carrier) done()
        else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', done)
      } catch (e) {
        // Node throws synchronously for certificates that it cannot parse.
        fail(e as Error)
      }
    }
    if (proxy) abandon = openTunnel(proxy, access.server, secure, fail)
    else secure(undefined)
  })
}

/** Opens a tunnel through a proxy. The returned function cancels. */
function openTunnel(
  proxy: URL,
  server: URL,
  opened: (socket: Socket) => void,
  fail: (error: Error) => void,
): () => void {
  const target = `${server.hostname}:${portOf(server)}`
  const login = proxy.username
    ? `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
    : undefined
  const asking = (proxy.protocol === 'https:' ? secureRequest : request)({
    host: bareHost(proxy),
    port: portOf(proxy),
    method: 'CONNECT',
    path: target,
    agent: false,
    headers: {
      host: target,
      ...(login ? { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` } : {}),
    },
  })
  const refuse = (why: string) => fail(new Error(`proxy ${proxy.host} ${why}`))
  asking.once('connect', (answer, socket) => {
    if (answer.statusCode === 200) return opened(socket)
    socket.destroy()
    refuse(`has answered ${answer.statusCode} ${answer.statusMessage ?? ''}`.trimEnd())
  })
  asking.once('response', (answer) => {
    asking.destroy()
    refuse(`has answered ${answer.statusCode} ${answer.statusMessage ?? ''}`.trimEnd())
  })
  asking.on('error', (e) => refuse(`cannot be used: ${e.message}`))
  asking.end()
  return () => void asking.destroy()
}

const openPlain = (server: URL, carrier: Socket | undefined): Socket =>
  carrier ?? connect({ host: bareHost(server), port: portOf(server) })

function openTls({ access, certificate, protocols }: DialOptions, carrier: Socket | undefined): TLSSocket {
  const host = bareHost(access.server)
  const servername = access.tlsServerName ?? (isIP(host) ? undefined : host)
  // The TLS socket reports the end of the connection; an unhandled error here would end the process.
  carrier?.on('error', () => {})
  return connectTls({
    host,
    port: portOf(access.server),
    ...(carrier ? { socket: carrier } : {}),
    ...(servername ? { servername } : {}),
    ALPNProtocols: [...protocols],
    ca: access.authority(),
    cert: certificate?.certificate,
    key: certificate?.key,
    rejectUnauthorized: !access.insecureSkipTlsVerify,
  })
}
