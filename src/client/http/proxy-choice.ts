import { BlockList, isIP } from 'node:net'

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>

const variable = (env: Environment, name: string) => env[name] || env[name.toLowerCase()] || ''

/**
 * Returns the proxy for a server according to HTTPS_PROXY, HTTP_PROXY and NO_PROXY; undefined for a direct connection.
 */
export function proxyFromEnvironment(server: URL, env: Environment): URL | undefined {
  const text = variable(env, server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY')
  if (text === '') return undefined
  const host = bareHost(server)
  if (isLoopback(host) || isExempt(host, portOf(server), variable(env, 'NO_PROXY'))) return undefined
  return parseProxy(text)
}

/** Parses the URL of a proxy; the default scheme is http. */
export function parseProxy(text: string): URL {
  const whole = text.includes('://') ? text : `http://${text}`
  if (!URL.canParse(whole)) throw new Error(`proxy ${JSON.stringify(text)} is not a URL`)
  const url = new URL(whole)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`proxy ${JSON.stringify(text)} is not supported: use an http or https proxy`)
  return url
}

/** Returns the host without the brackets of an IPv6 address. */
export const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

/** As in Go, loopback addresses are never reached through a proxy. */
function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  )
}

function isExempt(host: string, port: number, list: string): boolean {
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(entry, host.toLowerCase(), port))
}

function matches(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return isInRange(entry, host)
  const [, name = '', onPort] = /^(.*?)(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry)!
  if (onPort && Number(onPort) !== port) return false
  const wanted = name.replace(/^\[|\]$/g, '').replace(/^\*\./, '.')
  if (wanted.startsWith('.')) return host.endsWith(wanted)
  return host === wanted || (isIP(wanted) === 0 && host.endsWith(`.${wanted}`))
}

function isInRange(range: string, host: string): boolean {
  const family = isIP(host)
  const [net = '', bits = ''] = range.split('/')
  if (family === 0 || isIP(net) !== family || !/^\d+$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(net, Number(bits), kind)
  return list.check(host, kind)
}
