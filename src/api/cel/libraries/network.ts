import { type Cidr, type Ip, formatIp, parseCidr, parseIp } from '../../validation/ip.ts'
import { type Library, globalOverload, memberOverload } from '../declarations.ts'
import { boolType, intType, opaqueType, stringType } from '../types.ts'
import { CelError, Opaque, type Value } from '../values.ts'

const ipType = opaqueType('net.IP')
const cidrType = opaqueType('net.CIDR')

class IpValue extends Opaque {
  readonly typeName = 'net.IP'
  readonly ip: Ip
  constructor(ip: Ip) {
    super()
    this.ip = ip
  }
  equals(other: Opaque): boolean {
    return other instanceof IpValue && other.ip.family === this.ip.family && other.ip.value === this.ip.value
  }
}

class CidrValue extends Opaque {
  readonly typeName = 'net.CIDR'
  readonly cidr: Cidr
  constructor(cidr: Cidr) {
    super()
    this.cidr = cidr
  }
  equals(other: Opaque): boolean {
    if (!(other instanceof CidrValue)) return false
    const [a, b] = [this.cidr, other.cidr]
    return a.prefix === b.prefix && a.address.family === b.address.family && a.address.value === b.address.value
  }
}

/** Parses an address as Go's strict parser does. IPv4-mapped IPv6 addresses are rejected. */
function readIp(text: string): IpValue | string {
  const ip = text.length <= 64 ? parseIp(text) : undefined
  if (text.includes('%')) return `IP address ${JSON.stringify(text)} with zone value is not allowed`
  if (!ip || ip.leadingZeros) {
    const shown = JSON.stringify(text)
    return `IP Address ${shown} parse error during conversion from string: ParseAddr(${shown}): unable to parse IP`
  }
  return ip.mapped ? `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed` : new IpValue(ip)
}

function toIp(text: string): IpValue {
  const ip = readIp(text)
  if (typeof ip === 'string') throw new CelError(ip)
  return ip
}

function readCidr(text: string): CidrValue | undefined {
  const cidr = text.length <= 64 ? parseCidr(text) : undefined
  return cidr && !cidr.leadingZeros && !cidr.address.leadingZeros && !cidr.address.mapped
    ? new CidrValue(cidr)
    : undefined
}

function toCidr(text: string): CidrValue {
  const cidr = readCidr(text)
  if (!cidr) throw new CelError(`network address parse error during conversion from string: ${text}`)
  return cidr
}

const textOf = ({ ip }: IpValue) => formatIp(ip.family, ip.value)
const cidrText = ({ cidr }: CidrValue) => `${formatIp(cidr.address.family, cidr.address.value)}/${cidr.prefix}`
const bits = (ip: Ip) => (ip.family === 'IPv4' ? 32 : 128)
/** The leading bits of an address. */
const leading = (ip: Ip, count: number) => ip.value >> BigInt(bits(ip) - count)

const within = ({ cidr }: CidrValue, ip: Ip) =>
  cidr.address.family === ip.family && leading(cidr.address, cidr.prefix) === leading(ip, cidr.prefix)

/** True if a network contains another. */
const contains = (outer: CidrValue, { cidr }: CidrValue) =>
  outer.cidr.prefix <= cidr.prefix && within(outer, cidr.address)

const isLoopback = (ip: Ip) => (ip.family === 'IPv4' ? leading(ip, 8) === 127n : ip.value === 1n)
const isUnspecified = (ip: Ip) => ip.value === 0n
const isLinkLocalUnicast = (ip: Ip) => (ip.family === 'IPv4' ? leading(ip, 16) === 0xa9fen : leading(ip, 10) === 0x3fan)
const isMulticast = (ip: Ip) => (ip.family === 'IPv4' ? leading(ip, 4) === 0xen : leading(ip, 8) === 0xffn)
const isLinkLocalMulticast = (ip: Ip) =>
  ip.family === 'IPv4' ? leading(ip, 24) === 0xe00000n : leading(ip, 8) === 0xffn && (leading(ip, 16) & 0xfn) === 2n
const isBroadcast = (ip: Ip) => ip.family === 'IPv4' && ip.value === 0xffffffffn
const isGlobalUnicast = (ip: Ip) =>
  !isBroadcast(ip) && !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip)

/** Reading an address takes about 1 µs. */
const parseCost = (_: Value, text: string) => 150 + text.length * 12
const test = (id: string, run: (ip: Ip) => boolean) =>
  memberOverload(
    id,
    [ipType],
    boolType,
    (_, { ip }: IpValue) => run(ip),
    () => 20,
  )
/** Two addresses of up to 16 bytes are compared. */
const containsCost = (_: Value, __: Value, other: Value) =>
  50 + (typeof other === 'string' ? 150 + other.length * 12 : 0)

function isCanonical(text: string): boolean {
  return textOf(toIp(text)) === text
}

/** Kubernetes' addresses and networks. */
export const network: Library = {
  name: 'network',
  functions: {
    ip: [
      globalOverload('string_to_ip', [stringType], ipType, (_, text: string) => toIp(text), parseCost),
      memberOverload('cidr_ip', [cidrType], ipType, (_, { cidr }: CidrValue) => new IpValue(cidr.address)),
    ],
    isIP: [
      globalOverload('is_ip', [stringType], boolType, (_, text: string) => typeof readIp(text) !== 'string', parseCost),
    ],
    'ip.isCanonical': [
      globalOverload('ip_is_canonical', [stringType], boolType, (_, text: string) => isCanonical(text), parseCost),
    ],
    family: [memberOverload('family', [ipType], intType, (_, { ip }: IpValue) => (ip.family === 'IPv4' ? 4 : 6))],
    isUnspecified: [test('is_unspecified', isUnspecified)],
    isLoopback: [test('is_loopback', isLoopback)],
    isLinkLocalMulticast: [test('is_link_local_multicast', isLinkLocalMulticast)],
    isLinkLocalUnicast: [test('is_link_local_unicast', isLinkLocalUnicast)],
    isGlobalUnicast: [test('is_global_unicast', isGlobalUnicast)],
    cidr: [globalOverload('string_to_cidr', [stringType], cidrType, (_, text: string) => toCidr(text), parseCost)],
    isCIDR: [
      globalOverload('is_cidr', [stringType], boolType, (_, text: string) => readCidr(text) !== undefined, parseCost),
    ],
    containsIP: [
      memberOverload(
        'cidr_contains_ip_string',
        [cidrType, stringType],
        boolType,
        (_, cidr: CidrValue, text: string) => within(cidr, toIp(text).ip),
        containsCost,
      ),
      memberOverload(
        'cidr_contains_ip_ip',
        [cidrType, ipType],
        boolType,
        (_, cidr: CidrValue, { ip }: IpValue) => within(cidr, ip),
        containsCost,
      ),
    ],
    containsCIDR: [
      memberOverload(
        'cidr_contains_cidr_string',
        [cidrType, stringType],
        boolType,
        (_, cidr: CidrValue, text: string) => contains(cidr, toCidr(text)),
        containsCost,
      ),
      memberOverload(
        'cidr_contains_cidr',
        [cidrType, cidrType],
        boolType,
        (_, cidr: CidrValue, other: CidrValue) => contains(cidr, other),
        containsCost,
      ),
    ],
    prefixLength: [memberOverload('cidr_prefix_length', [cidrType], intType, (_, { cidr }: CidrValue) => cidr.prefix)],
    masked: [
      memberOverload(
        'cidr_masked',
        [cidrType],
        cidrType,
        (_, { cidr }: CidrValue) => new CidrValue({ ...cidr, address: { ...cidr.address, value: cidr.network } }),
      ),
    ],
    string: [
      globalOverload(
        'ip_to_string',
        [ipType],
        stringType,
        (_, ip: IpValue) => textOf(ip),
        () => 50,
      ),
      globalOverload(
        'cidr_to_string',
        [cidrType],
        stringType,
        (_, cidr: CidrValue) => cidrText(cidr),
        () => 50,
      ),
    ],
  },
}
