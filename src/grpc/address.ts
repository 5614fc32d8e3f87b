import { type Socket, connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../base/clock.ts'

/** TLS certificates as PEM. */
export interface TlsOptions {
  /** The certificate authorities of the server. Default: the system's. */
  ca?: string | undefined
  /** The client certificate and its key. */
  cert?: string | undefined
  key?: string | undefined
}

/** TLS certificates, or how to read them for each connection: files are replaced before certificates expire. */
export type TlsSource = TlsOptions | (() => TlsOptions)

/** The address of a gRPC server. */
export type Address =
  | { kind: 'unix'; path: string }
  | { kind: 'tcp'; host: string; port: number; tls: TlsSource | undefined }

/**
 * Parses `http://host:port`, `https://host:port`, `unix:///run/x.sock`, `unix:/run/x.sock` or the abstract
 * `unix:///@x`. Throws for any other form.
 */
export function parseAddress(text: string, tls: TlsSource = {}): Address {
  if (text.startsWith('unix:')) {
    const path = text.replace(/^unix:(\/\/)?/, '')
    if (path === '') throw new Error(`"${text}" names no socket`)
    return { kind: 'unix', path: path.startsWith('/@') ? `\0${path.slice(2)}` : path }
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Error(`"${text}" must be an http, https or unix URL`)
  const isSecure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { kind: 'tcp', host, port: Number(url.port || (isSecure ? 443 : 80)), tls: isSecure ? tls : undefined }
}

/** The `:authority` pseudo-header of requests. */
export const authorityOf = (address: Address): string =>
  address.kind === 'unix'
    ? 'localhost'
    : `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`

/** Opens a connection. Rejects after `timeoutMs`. */
export function dial(address: Address, timeoutMs: number, clock: Clock): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      cancelTimer()
      socket?.destroy()
      reject(error)
    }
    const cancelTimer = clock.after(timeoutMs, () => fail(new Error(`no connection within ${timeoutMs / 1000} s`)))
    let socket: Socket | undefined
    try {
      socket = open(address)
    } catch (e) {
      // A file may be missing, and Node throws synchronously for certificates that it cannot parse.
      return fail(e as Error)
    }
    const opened = socket
    opened.setNoDelay(true)
    opened.once('error', fail)
    opened.once('encrypted' in opened ? 'secureConnect' : 'connect', () => {
      cancelTimer()
      opened.off('error', fail)
      resolve(opened)
    })
  })
}

function open(address: Address): Socket {
  if (address.kind === 'unix') return connect(address.path)
  const { host, port, tls: source } = address
  if (!source) return connect({ host, port })
  const tls = typeof source === 'function' ? source() : source
  const servername = isIP(host) ? {} : { servername: host }
  return connectTls({ host, port, ...servername, ALPNProtocols: ['h2'], ca: tls.ca, cert: tls.cert, key: tls.key })
}
