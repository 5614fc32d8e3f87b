/** A DER-encoded value. */
export interface Element {
  tag: number
  /** The content without tag and length. */
  content: Buffer
  /** Tag, length and content, as covered by a signature or copied into another structure. */
  raw: Buffer
}

/** Invalid DER. The message is that of Go's encoding/asn1. */
export class Asn1Error extends Error {}

const syntax = (what: string) => new Asn1Error(`asn1: syntax error: ${what}`)

/** The tags in certificates and requests. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  objectId: 0x06,
  sequence: 0x30,
  set: 0x31,
}

/** Reads the value at an offset. */
function elementAt(bytes: Buffer, at: number): Element {
  const first = bytes[at + 1]
  if (first === undefined) throw syntax('truncated tag or length')
  if ((bytes[at]! & 0x1f) === 0x1f) throw new Asn1Error('asn1: structure error: base 128 integer too large')
  let length = first
  let start = at + 2
  if (first >= 0x80) {
    const count = first & 0x7f
    if (count === 0) throw syntax('indefinite length found (not DER)')
    if (count > 4) throw new Asn1Error('asn1: structure error: length too large')
    if (start + count > bytes.length) throw syntax('truncated tag or length')
    length = bytes.readUIntBE(start, count)
    start += count
  }
  if (start + length > bytes.length) throw syntax('data truncated')
  return { tag: bytes[at]!, content: bytes.subarray(start, start + length), raw: bytes.subarray(at, start + length) }
}

/** Reads consecutive values. */
export function elementsOf(bytes: Buffer): Element[] {
  const found: Element[] = []
  for (let at = 0; at < bytes.length; at += found.at(-1)!.raw.length) found.push(elementAt(bytes, at))
  return found
}

/** Reads a single value with the tag. Throws if there are more. */
export function onlyElement(bytes: Buffer, tag: number): Element {
  const found = elementAt(bytes, 0)
  checkTag(found, tag)
  if (found.raw.length !== bytes.length) throw syntax('trailing data')
  return found
}

/** The elements of a sequence or set. Empty if it is missing. */
export function partsOf(element: Element | undefined, tag: number): Element[] {
  checkTag(element, tag)
  return elementsOf(element.content)
}

export function checkTag(element: Element | undefined, tag: number): asserts element is Element {
  if (!element) throw syntax('sequence truncated')
  if (element.tag !== tag) throw new Asn1Error(`asn1: structure error: tags don't match (${tag} vs ${element.tag})`)
}

/** Decodes an object identifier, such as `2.5.4.3`. */
export function readObjectId(element: Element | undefined): string {
  checkTag(element, tags.objectId)
  const numbers: number[] = []
  let value = 0
  for (const byte of element.content) {
    value = value * 128 + (byte & 0x7f)
    if (byte & 0x80) continue
    numbers.push(value)
    value = 0
  }
  const first = numbers.shift() ?? 0
  const head = first < 80 ? [Math.floor(first / 40), first % 40] : [2, first - 80]
  return [...head, ...numbers].join('.')
}

/** The bytes of a bit string, whose length must be a multiple of 8. */
export function readBits(element: Element | undefined): Buffer {
  checkTag(element, tags.bits)
  if (element.content[0] !== 0) throw syntax('invalid padding bits in BIT STRING')
  return element.content.subarray(1)
}

/** A block of a PEM text. */
interface PemBlock {
  label: string
  bytes: Buffer
  hasHeaders: boolean
}

/** The label, the headers, and the base64 content. */
const pemPattern =
  /-----BEGIN ([A-Z0-9 ]+)-----\r?\n((?:[^\n]*: [^\n]*\r?\n)+\r?\n)?([A-Za-z0-9+/=\s]*?)-----END \1-----/g

/** The blocks of a PEM text. Text between them is ignored. */
export const pemBlocks = (text: string): PemBlock[] =>
  [...text.matchAll(pemPattern)].map(([, label = '', headers, body = '']) => ({
    label,
    bytes: Buffer.from(body, 'base64'),
    hasHeaders: headers !== undefined,
  }))

/** Encodes DER as PEM. */
export function pemText(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
