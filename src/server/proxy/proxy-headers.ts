import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Exchange } from '../http/exchange.ts'
import type { Location } from './location.ts'

/** Headers that are about one connection (RFC 9110, 7.6.1), and never passed on. */
const ofConnection = ['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']

/** What is said to this server alone: who asks, and in whose name. */
const ofCaller = /^(authorization$|impersonate-|x-remote-)/

/** Browsers must not let other sites in because the proxied server does. */
const ofOrigins = /^access-control-allow-/

/** The headers that a proxied request has. */
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

/** The headers of an answer, with redirects that lead through the proxy again. */
export function answerHeaders(headers: IncomingHttpHeaders, root: string, { host, port }: Location, asked: string | undefined): Record<string, string | string[]> {
  const passed = passedHeaders(headers)
  if (headers.location !== undefined) passed['location'] = throughProxy(headers.location, root, new Set([host, `${host}:${port}`, `[${host}]:${port}`, asked ?? '']))
  return passed
}

/** The headers of an answer that are not about its connection. */
export function passedHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {}
  const own = namedBy(headers.connection)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || ofConnection.includes(name) || own.has(name) || ofOrigins.test(name)) continue
    passed[name] = value
  }
  return passed
}

const namedBy = (connection: string | undefined): Set<string> => new Set((connection ?? '').toLowerCase().split(',').map((name) => name.trim()))

/** A redirect to the same server by its root is one below the proxy's. Others, and relative ones, stay as they are. */
function throughProxy(location: string, root: string, hosts: ReadonlySet<string>): string {
  const whole = /^(?:(?:https?:)?\/\/([^/?#]*))?(\/.*|$)/is.exec(location)
  if (!whole) return location
  const [, host, path = ''] = whole
  if (host !== undefined && !hosts.has(host)) return location
  if (host === undefined && !location.startsWith('/')) return location
  return path === root || path.startsWith(`${root}/`) ? path : `${root}${path || '/'}`
}
