import { isIP } from 'node:net'
import { InvalidArgumentError, Option } from 'commander'
import { FeatureGates } from '../../api/feature-gates.ts'
import { formatCidr, parseCidr } from '../../api/validation/ip.ts'
import { isDns1123Subdomain } from '../../api/validation/names.ts'
import { parseDuration } from '../../base/duration.ts'

/** Parses a port number; 0 means any free port. */
export const port = (text: string): number => {
  if (!/^\d+$/.test(text) || Number(text) > 65535)
    throw new InvalidArgumentError('must be a port number from 0 to 65535')
  return Number(text)
}

/** Parses a domain, such as `cluster.local`. */
export const domainName = (text: string): string => {
  const domain = text.replace(/\.$/, '').toLowerCase()
  const [problem] = isDns1123Subdomain(domain)
  if (problem !== undefined) throw new InvalidArgumentError(problem)
  return domain
}

/** Parses a range of ports: `30000-32767`. */
export const portRange = (text: string): readonly [number, number] => {
  const [first, last] = text.split('-').map(Number)
  const isRange = /^\d+-\d+$/.test(text) && first! >= 1 && last! <= 65_535 && first! <= last!
  if (!isRange) throw new InvalidArgumentError('must be two port numbers, FIRST-LAST')
  return [first!, last!]
}

/** Parses an IPv4 network large enough for Services; returns its canonical form. */
export const ipv4Range = (text: string): string => {
  const cidr = parseCidr(text)
  if (cidr?.address.family !== 'IPv4' || cidr.prefix < 8 || cidr.prefix > 28) {
    throw new InvalidArgumentError(
      'must be a network of IPv4 addresses with a prefix from /8 to /28, such as 10.0.0.0/24',
    )
  }
  return formatCidr(cidr)
}

/** Accepts any non-empty text. */
export const something = (text: string): string => {
  if (text.trim() === '') throw new InvalidArgumentError('must not be empty')
  return text
}

/** Parses a comma-separated list of names and addresses. */
export const hostList = (text: string): string[] => {
  const hosts = list(text)
  const wrong = hosts.find(
    (host) => isIP(host) === 0 && isDns1123Subdomain(host.replace(/^\*\./, '').toLowerCase()).length > 0,
  )
  if (wrong !== undefined || hosts.length === 0)
    throw new InvalidArgumentError('must be DNS names and IP addresses, separated by commas')
  return hosts
}

/** Parses a comma-separated list of URL paths; a path may end in `*`. */
export const pathList = (text: string): string[] => {
  const paths = list(text)
  const wrong = paths.find((path) => !/^\/[^*]*\*?$/.test(path))
  if (wrong !== undefined)
    throw new InvalidArgumentError(`${JSON.stringify(wrong)} must begin with /, and may have * at its end only`)
  return paths
}

/** Parses a comma-separated list. */
export const list = (text: string): string[] =>
  text
    .split(',')
    .map((s) => s.trim())
    .filter((s) => s !== '')

/** Parses a directory on another machine: an absolute path without `..`. */
export const absolutePath = (text: string): string => {
  if (!text.startsWith('/') || text.split('/').includes('..'))
    throw new InvalidArgumentError('must be an absolute path without ..')
  return text
}

/** Parses feature gates: `A=true,B=false`. */
export const gates = (text: string): FeatureGates => {
  try {
    return FeatureGates.parse(text)
  } catch (e) {
    throw new InvalidArgumentError((e as Error).message)
  }
}

/** Parses a boolean: `--flag` and `--flag=true`, as in Go. */
export const bool = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('must be true or false')
  return text === 'true'
}

/** Parses a number of at least one. */
export const count = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a number from 1 to 999999')
  return Number(text)
}

/** Parses a limit; 0 means none. */
export const limit = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be a number from 0 to 999999')
  return Number(text)
}

/** Parses a comma-separated list of ports. */
export const portList = (text: string): number[] => {
  const ports = list(text).map(Number)
  if (ports.length === 0 || ports.some((n) => !Number.isInteger(n) || n < 1 || n > 65_535))
    throw new InvalidArgumentError('must be port numbers such as 443,6443')
  return ports
}

/** Parses a comma-separated list of positive seconds. */
export const secondsList = (text: string): number[] => {
  const numbers = list(text).map(Number)
  if (numbers.length === 0 || numbers.some((n) => !(n > 0) || n === Infinity))
    throw new InvalidArgumentError('must be numbers of seconds such as 1,2.5,10')
  return numbers
}

/** Parses a percentage. */
export const percentage = (text: string): number => {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100) throw new InvalidArgumentError('must be a number from 0 to 100')
  return Number(text)
}

/** Parses a Go duration, such as `1m30s`, to milliseconds. */
export const durationMs = (text: string): number => {
  const total = parseDuration(text)
  if (!total) throw new InvalidArgumentError('must be a duration such as 15s or 1m30s')
  return total
}

/** Returns a duration flag whose default is shown in help as users type it. */
export const durationOption = (flags: string, description: string, initial: string, parse = durationMs): Option =>
  new Option(flags, description).argParser(parse).default(parse(initial), initial)

/** Parses a request timeout: a duration or a number of seconds; 0 means none. */
export const requestTimeoutMs = (text: string): number => (/^\d+$/.test(text) ? Number(text) * 1000 : timeoutMs(text))

/** Parses a timeout, which may be 0. A negative one means a week, as in kubectl. */
export const timeoutMs = (text: string): number => {
  if (text.startsWith('-')) return 7 * 24 * 3_600_000
  if (/^0+(ms|s|m|h)?$/.test(text)) return 0
  return durationMs(text)
}
