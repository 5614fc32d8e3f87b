import { isIP } from 'node:net'
import { InvalidArgumentError, Option } from 'commander'
import { FeatureGates } from '../api/feature-gates.ts'
import { isDns1123Subdomain } from '../api/validation/names.ts'
import { parseDuration } from '../base/duration.ts'

/** A port number; 0 takes a free one. */
export const port = (text: string): number => {
  if (!/^\d+$/.test(text) || Number(text) > 65535) throw new InvalidArgumentError('must be a port number from 0 to 65535')
  return Number(text)
}

/** A text of any sort, which is there. */
export const something = (text: string): string => {
  if (text.trim() === '') throw new InvalidArgumentError('must not be empty')
  return text
}

/** Names and addresses of a server, separated by commas. */
export const hostList = (text: string): string[] => {
  const hosts = list(text)
  const wrong = hosts.find((host) => isIP(host) === 0 && isDns1123Subdomain(host.replace(/^\*\./, '').toLowerCase()).length > 0)
  if (wrong !== undefined || hosts.length === 0) throw new InvalidArgumentError('must be DNS names and IP addresses, separated by commas')
  return hosts
}

/** Paths of URLs separated by commas; one may end in `*`. */
export const pathList = (text: string): string[] => {
  const paths = list(text)
  const wrong = paths.find((path) => !/^\/[^*]*\*?$/.test(path))
  if (wrong !== undefined) throw new InvalidArgumentError(`${JSON.stringify(wrong)} must begin with /, and may have * at its end only`)
  return paths
}

/** Names separated by commas. */
export const list = (text: string): string[] => text.split(',').map((s) => s.trim()).filter((s) => s !== '')

/** A directory of another machine: it must say where it begins, and no way back up. */
export const absolutePath = (text: string): string => {
  if (!text.startsWith('/') || text.split('/').includes('..')) throw new InvalidArgumentError('must be an absolute path without ..')
  return text
}

/** `A=true,B=false` */
export const gates = (text: string): FeatureGates => {
  try {
    return FeatureGates.parse(text)
  } catch (e) {
    throw new InvalidArgumentError((e as Error).message)
  }
}

/** `--flag` and `--flag=true`, as Go's flags have it. */
export const bool = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('must be true or false')
  return text === 'true'
}

/** How many of something there are: one at least. */
export const count = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a number from 1 to 999999')
  return Number(text)
}

/** How many of something there may be; 0 is no limit. */
export const limit = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be a number from 0 to 999999')
  return Number(text)
}

/** Numbers of seconds separated by commas, each above 0. */
export const secondsList = (text: string): number[] => {
  const numbers = list(text).map(Number)
  if (numbers.length === 0 || numbers.some((n) => !(n > 0) || n === Infinity)) throw new InvalidArgumentError('must be numbers of seconds such as 1,2.5,10')
  return numbers
}

/** A share of a hundred. */
export const percentage = (text: string): number => {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100) throw new InvalidArgumentError('must be a number from 0 to 100')
  return Number(text)
}

/** A duration as Go writes it, `1m30s`, in milliseconds. */
export const durationMs = (text: string): number => {
  const total = parseDuration(text)
  if (!total) throw new InvalidArgumentError('must be a duration such as 15s or 1m30s')
  return total
}

/** A flag for a duration that has a default, which its help shows as people type it. */
export const durationOption = (flags: string, description: string, initial: string, parse = durationMs): Option =>
  new Option(flags, description).argParser(parse).default(parse(initial), initial)

/** How long one request may take: a duration or a number of seconds; 0 is for ever. */
export const requestTimeoutMs = (text: string): number => (/^\d+$/.test(text) ? Number(text) * 1000 : timeoutMs(text))

/** How long to wait: a duration, 0 included. A negative one is a week, as in kubectl. */
export const timeoutMs = (text: string): number => {
  if (text.startsWith('-')) return 7 * 24 * 3_600_000
  if (/^0+(ms|s|m|h)?$/.test(text)) return 0
  return durationMs(text)
}
