import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Exchange } from '../http/exchange/exchange.ts'
import type { Location } from './location.ts'

/** Hop-by-hop headers (RFC 9110, 7.6.1), which are never forwarded. */
const ofConnection = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** Credentials and impersonation headers, which are for this server only. */
const ofCaller = /^(authorization$|impersonate-|x-remote-)/

/** CORS headers of the proxied server must not open this server to other sites. */
const ofOrigins = /^access-control-allow-/

/** The headers of a forwarded request. */
export function requestHeaders(exchange: Exchange, root: string): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  const own = namedBy(exchange.header('connection'))
  for (const name of exchange.headersLike('')) {
    if (name.startsWith(':') || ofConnection.includes(name) || own.has(name) || ofCaller.test(name)) continue
    headers[name] = exchange.header(name)
  }
  const host = exchange.header('host') ?? exchange.header(':authority')
  const upgrade = exchange.upgrade?.headers['upgrade']
  return {
    ...headers,
    ...(host ? { host, 'x-forwarded-host': host } : {}),
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': root + exchange.url.slice(root.length).replace(/\?.*$/s, ''),
    ...(upgrade ? { connection: 'Upgrade', upgrade } : {}),
  }
}

/** The headers of a response. Redirects are rewritten to lead through the proxy. */
export function answerHeaders(
  headers: IncomingHttpHeaders,
  root: string,
  { host, port }: Location,
  asked: string | undefined,
): Record<string, string | string[]> {
  const passed = passedHeaders(headers)
  if (headers.location !== undefined)
    passed['location'] = throughProxy(
      headers.location,
      root,
      new Set([host, `${host}:${port}`, `[${host}]:${port}`, asked ?? '']),
    )
  return passed
}

/** The headers of a response without hop-by-hop headers. */
export function passedHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {}
  const own = namedBy(headers.connection)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || ofConnection.includes(name) || own.has(name) || ofOrigins.test(name)) continue
    passed[name] = value
  }
  return passed
}

const namedBy = (connection: string | undefined): Set<string> =>
  new Set(
    (connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )

/**
 * Rewrites an absolute redirect to the same server to a path below the proxy. Others, and relative ones, are unchanged.
 */
function throughProxy(location: string, root: string, hosts: ReadonlySet<string>): string {
  const whole = /^(?:(?:https?:)?\/\/([^/?#]*))?(\/.*|$)/is.exec(location)
  if (!whole) return location
  const [, host, path = ''] = whole
  if (host !== undefined && !hosts.has(host)) return location
  if (host === undefined && !location.startsWith('/')) return location
  return path === root || path.startsWith(`${root}/`) ? path : `${root}${path || '/'}`
}
