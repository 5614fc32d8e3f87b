import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { listen } from '../base/listen.ts'

/** Handles requests of the listener. */
export interface Handler {
  request(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void>
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, url: URL): Promise<void>
}

export interface Door {
  port: number
  close(): Promise<void>
}

/** Host names of the loopback interface. */
const localNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Headers of every response. Scripts and styles are served by us, and the page must not be framed. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Returns the URL of a request that was sent to a local name; undefined for any other. */
export function localUrl({ headers, url = '/' }: Pick<IncomingMessage, 'headers' | 'url'>): URL | undefined {
  const { host = '' } = headers
  // After DNS rebinding, the Host header contains the foreign name.
  if (!localNames.has(host.replace(/:\d+$/, '').toLowerCase())) return undefined
  return URL.canParse(url, `http://${host}`) ? new URL(url, `http://${host}`) : undefined
}

/**
 * Returns true if a request comes from our page, as browsers declare in headers. SameSite alone would admit every port
 * of this machine. A request without these headers is not from a browser and has no cookie.
 */
export function isFromOurPage({ headers }: Pick<IncomingMessage, 'headers'>, url: URL): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  return (origin === undefined || origin === url.origin) && (site === undefined || site === 'same-origin')
}

const loopback = '127.0.0.1'

/** Listens on the loopback interface, on this port or, if it is taken, on a free one. */
export async function openDoor(port: number, loadHandler: () => Promise<Handler>): Promise<Door> {
  let handler: Promise<Handler> | undefined
  // The rest of the dashboard is loaded on the first request.
  const handling = () => (handler ??= loadHandler())
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
    const url = localUrl(request)
    if (!url)
      return void response
        .writeHead(421, { 'content-type': 'text/plain' })
        .end('This server accepts requests to localhost only.\n')
    handling()
      .then((to) => to.request(request, response, url))
      .catch(() => response.destroy())
  })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const url = localUrl(request)
    if (!url || request.headers.origin !== url.origin) {
      // A client that does not close the connection would keep it.
      const ended = () => socket.destroy()
      return void socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n', ended)
    }
    handling()
      .then((to) => to.upgrade(request, socket, head, url))
      .catch(() => socket.destroy())
  })
  await listen(server, { host: loopback, port }).catch((e: unknown) => {
    if ((e as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw e
    return listen(server, { host: loopback, port: 0 })
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
