import { type FieldError, invalid, quoteValue } from './field-error.ts'
import type { Path } from './path.ts'

export type IpFamily = 'IPv4' | 'IPv6'

/** An address as Go's lenient parser parses it: `::ffff:1.2.3.4` has family IPv4. */
export interface Ip {
  family: IpFamily
  value: bigint
  /** True if it is written as an IPv4-mapped IPv6 address. */
  mapped: boolean
  /** True if a number has leading zeros, which only the lenient parser accepts. */
  leadingZeros: boolean
}

/** A network: `address` as it was written, `network` with the bits beyond the prefix cleared. */
export interface Cidr {
  address: Ip
  network: bigint
  prefix: number
  leadingZeros: boolean
}

const mappedPrefix = 0xffffn << 32n

function parseIpv4(text: string): { value: bigint; leadingZeros: boolean } | undefined {
  const octets = text.split('.')
  if (octets.length !== 4 || !octets.every((o) => /^\d+$/.test(o) && Number(o) <= 255)) return undefined
  return {
    value: octets.reduce((sum, o) => (sum << 8n) | BigInt(o), 0n),
    leadingZeros: octets.some((o) => o.length > 1 && o.startsWith('0')),
  }
}

/** The 16-bit groups of one side of `::`, where the last may be an IPv4 address. */
function parseGroups(text: string, mayEndInIpv4: boolean): { groups: bigint[]; leadingZeros: boolean } | undefined {
  if (text === '') return { groups: [], leadingZeros: false }
  const groups: bigint[] = []
  let leadingZeros = false
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    if (part.includes('.')) {
      const inner = parseIpv4(part)
      if (!mayEndInIpv4 || i !== parts.length - 1 || !inner) return undefined
      groups.push(inner.value >> 16n, inner.value & 0xffffn)
      leadingZeros ||= inner.leadingZeros
      continue
    }
    if (!/^[0-9a-fA-F]+$/.test(part)) return undefined
    const value = BigInt(`0x${part}`)
    if (value > 0xffffn) return undefined
    leadingZeros ||= part.length > 4
    groups.push(value)
  }
  return { groups, leadingZeros }
}

function parseIpv6(text: string): { value: bigint; leadingZeros: boolean } | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = parseGroups(halves[0]!, halves.length === 1)
  const tail = halves.length === 2 ? parseGroups(halves[1]!, true) : { groups: [], leadingZeros: false }
  if (!head || !tail) return undefined
  const missing = 8 - head.groups.length - tail.groups.length
  // `::` stands for one group of zeros at least.
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const groups = [...head.groups, ...Array<bigint>(missing).fill(0n), ...tail.groups]
  return {
    value: groups.reduce((sum, g) => (sum << 16n) | g, 0n),
    leadingZeros: head.leadingZeros || tail.leadingZeros,
  }
}

/** Parses an address leniently (leading zeros are accepted and reported); undefined if it is invalid. */
export function parseIp(text: string): Ip | undefined {
  if (!text.includes(':')) {
    const v4 = parseIpv4(text)
    return v4 && { family: 'IPv4', mapped: false, ...v4 }
  }
  const v6 = parseIpv6(text)
  if (!v6) return undefined
  const mapped = v6.value >> 32n === 0xffffn
  return {
    family: mapped ? 'IPv4' : 'IPv6',
    value: mapped ? v6.value - mappedPrefix : v6.value,
    mapped,
    leadingZeros: v6.leadingZeros,
  }
}

/** The family of an address; undefined if it is invalid. */
export const ipFamilyOf = (text: string): IpFamily | undefined => parseIp(text)?.family

/** The canonical text of an address: dotted, or RFC 5952. */
export function formatIp(family: IpFamily, value: bigint): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((s) => String((value >> s) & 0xffn)).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  let best = { at: -1, length: 1 }
  for (let at = 0; at < 8; at++) {
    let length = 0
    while (at + length < 8 && groups[at + length] === '0') length++
    if (length > best.length) best = { at, length }
  }
  if (best.at < 0) return groups.join(':')
  return `${groups.slice(0, best.at).join(':')}::${groups.slice(best.at + best.length).join(':')}`
}

/** Parses `10.0.0.0/24` leniently; undefined if it is invalid. */
export function parseCidr(text: string): Cidr | undefined {
  const at = text.indexOf('/')
  if (at < 0) return undefined
  const address = parseIp(text.slice(0, at))
  const length = text.slice(at + 1)
  if (!address || !/^\d+$/.test(length)) return undefined
  const bits = address.family === 'IPv4' && !address.mapped ? 32 : 128
  if (Number(length) > bits) return undefined
  // A mapped address counts as its 32 bits.
  const prefix = address.mapped ? Math.max(0, Number(length) - 96) : Number(length)
  const hostBits = BigInt((address.family === 'IPv4' ? 32 : 128) - prefix)
  return {
    address,
    network: (address.value >> hostBits) << hostBits,
    prefix,
    leadingZeros: address.leadingZeros || (length.length > 1 && length.startsWith('0')),
  }
}

/** The address of a network with this number: 1 is the first after the network's own. */
export function addressAt(network: string, number: number): string {
  const cidr = parseCidr(network)
  if (!cidr) throw new Error(`not a network: ${network}`)
  return formatIp(cidr.address.family, cidr.network + BigInt(number))
}

/** The family of a network, undefined if it is none. */
export const cidrFamilyOf = (text: string): IpFamily | undefined => parseCidr(text)?.address.family

/** The canonical text of a network, without the bits beyond its prefix. */
export const formatCidr = (cidr: Cidr): string => `${formatIp(cidr.address.family, cidr.network)}/${cidr.prefix}`

/** True if an address lies in a network of its own family. */
export function cidrContains(cidr: Cidr, ip: Ip): boolean {
  if (cidr.address.family !== ip.family) return false
  const hostBits = BigInt((ip.family === 'IPv4' ? 32 : 128) - cidr.prefix)
  return ip.value >> hostBits === cidr.network >> hostBits
}

/** Validates an address in a legacy field: any spelling without leading zeros that is not IPv4-mapped. */
export function isIp(text: string): string[] {
  const ip = parseIp(text)
  if (!ip) return ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
  if (ip.leadingZeros) return ['must not have leading 0s']
  if (ip.mapped) return ['must not be an IPv4-mapped IPv6 address']
  return []
}

/** Validates an address in a newer field: only the canonical spelling. */
export function isCanonicalIp(text: string): string[] {
  const problems = isIp(text)
  if (problems.length) return problems
  const ip = parseIp(text)!
  const canonical = formatIp(ip.family, ip.value)
  return text === canonical ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`]
}

/** Validates a network in a legacy field: no leading zeros, no bits beyond the prefix. */
export function isCidr(text: string): string[] {
  const cidr = parseCidr(text)
  if (!cidr) return ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
  if (cidr.leadingZeros) return ['must not have leading 0s in IP or prefix length']
  if (cidr.address.mapped) return ['must not have an IPv4-mapped IPv6 address']
  if (cidr.network !== cidr.address.value) return ['must not have bits set beyond the prefix length']
  return []
}

/** Validates a network in a newer field: only the canonical spelling. */
export function isCanonicalCidr(text: string): string[] {
  const problems = isCidr(text)
  if (problems.length) return problems
  const canonical = formatCidr(parseCidr(text)!)
  return text === canonical ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`]
}

const shortList = 16
const members = new WeakMap<readonly string[], ReadonlySet<string>>()

/**
 * True if a list has a text. Each item of a new list is looked for in the old one: of a long list a set is made once.
 */
function has(list: readonly string[], text: string): boolean {
  if (list.length <= shortList) return list.includes(text)
  let all = members.get(list)
  if (!all) members.set(list, (all = new Set(list)))
  return all.has(text)
}

/** `isIp` as errors of a field; spellings that the stored object has already stay allowed. */
export const validateIp = (text: string, path: Path, old: readonly string[] = []): FieldError[] =>
  has(old, text) ? [] : isIp(text).map((p) => invalid(path, text, p))

/** `isCidr` as errors of a field; spellings that the stored object has already stay allowed. */
export const validateCidr = (text: string, path: Path, old: readonly string[] = []): FieldError[] =>
  has(old, text) ? [] : isCidr(text).map((p) => invalid(path, text, p))

const knownCidrs = new Map<string, Cidr>()

/** A constant network, parsed once. */
function knownCidr(text: string): Cidr {
  let cidr = knownCidrs.get(text)
  if (!cidr) knownCidrs.set(text, (cidr = parseCidr(text)!))
  return cidr
}

/** Rejects unspecified, loopback and link-local addresses, which cannot receive traffic of a cluster. */
export function isRoutableIp(text: string): string[] {
  const ip = parseIp(text)
  if (!ip) return ['must be a valid IP address']
  const within = (cidr: string) => cidrContains(knownCidr(cidr), ip)
  const problems: string[] = []
  if (ip.value === 0n) problems.push(`may not be unspecified (${formatIp(ip.family, 0n)})`)
  // Kubernetes refuses all of 127.0.0.0/8. Pods that are processes of one machine have addresses in the rest of it.
  if (within('127.0.0.0/16') || within('::1/128'))
    problems.push('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  if (within('169.254.0.0/16') || within('fe80::/10'))
    problems.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  if (within('224.0.0.0/24') || within('ff02::/16'))
    problems.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
  return problems
}

const outdated = (path: Path, what: string, text: string, better: string) =>
  `${path}: non-standard ${what} ${quoteValue(text)} will be considered invalid in a future Kubernetes release: use ${quoteValue(better)}`

const notCanonical = (path: Path, what: string, text: string, better: string) =>
  `${path}: IPv6 ${what} ${quoteValue(text)} should be in RFC 5952 canonical format (${quoteValue(better)})`

/** The warning about a valid but not canonical address. */
export function ipWarnings(path: Path, text: string): string[] {
  const ip = parseIp(text)
  if (!ip) return []
  const canonical = formatIp(ip.family, ip.value)
  if (ip.leadingZeros || ip.mapped) return [outdated(path, 'IP address', text, canonical)]
  return ip.family === 'IPv6' && text !== canonical ? [notCanonical(path, 'address', text, canonical)] : []
}

/** The warning about a valid but ambiguous or not canonical network. */
export function cidrWarnings(path: Path, text: string): string[] {
  const cidr = parseCidr(text)
  if (!cidr) return []
  const { family, value, mapped } = cidr.address
  const canonical = formatCidr(cidr)
  const warnings: string[] = []
  if (value !== cidr.network) {
    const choice = [canonical, `${formatIp(family, value)}/${family === 'IPv4' ? 32 : 128}`]
      .map(quoteValue)
      .join(' or ')
    warnings.push(`${path}: CIDR value ${quoteValue(text)} is ambiguous in this context (should be ${choice}?)`)
  }
  if (cidr.leadingZeros || mapped) warnings.push(outdated(path, 'CIDR value', text, canonical))
  if (!warnings.length && family === 'IPv6' && text !== canonical)
    warnings.push(notCanonical(path, 'CIDR value', text, canonical))
  return warnings
}
