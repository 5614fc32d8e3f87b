import { isIP } from 'node:net'
/** The part of ASN.1's Distinguished Encoding Rules that certificates need. */

const tlv = (tag: number, content: Buffer): Buffer => {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length, ...bytes]), content])
}

export const sequence = (...items: Buffer[]) => tlv(0x30, Buffer.concat(items))
export const set = (...items: Buffer[]) => tlv(0x31, Buffer.concat(items))
export const octets = (content: Buffer) => tlv(0x04, content)
export const boolean = (value: boolean) => tlv(0x01, Buffer.from([value ? 0xff : 0]))
export const utf8 = (text: string) => tlv(0x0c, Buffer.from(text))
export const bits = (content: Buffer, unused = 0) => tlv(0x03, Buffer.concat([Buffer.from([unused]), content]))
/** A positive integer from bytes, the most significant first. */
export const integer = (bytes: Buffer) => tlv(0x02, bytes[0]! & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes)
/** A value with the explicit tag `[n]`. */
export const tagged = (n: number, content: Buffer) => tlv(0xa0 | n, content)
/** A primitive value with the implicit tag `[n]`. */
export const implicit = (n: number, content: Buffer) => tlv(0x80 | n, content)

/**
 * Encodes a time: as UTCTime with a two-digit year before 2050, and as GeneralizedTime from then on (RFC 5280, section
 * 4.1.2.5).
 */
export function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')
  return Number(text.slice(0, 4)) < 2050 ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text))
}

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const group = [part & 0x7f]
    for (let left = part >> 7; left > 0; left >>= 7) group.unshift((left & 0x7f) | 0x80)
    bytes.push(...group)
  }
  return tlv(0x06, Buffer.from(bytes))
}

/** Encodes a value with any tag. */
export const element = tlv

/** The 4 or 16 bytes of an IP address. */
export function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const [left = '', right] = address.split('::')
  const groups = (text: string | undefined) => (text ? text.split(':').map((g) => Number.parseInt(g, 16)) : [])
  const [head, tail] = [groups(left), groups(right)]
  const all = right === undefined ? head : [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail]
  const out = Buffer.alloc(16)
  for (const [i, group] of all.entries()) out.writeUInt16BE(group, i * 2)
  return out
}
