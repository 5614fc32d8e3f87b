/** Invalid base64, in the words of Go's decoder. */
export class Base64Error extends Error {
  constructor(at: number) {
    super(`illegal base64 data at input byte ${at}`)
    this.name = 'Base64Error'
  }
}

// The last character before the padding has spare bits, which Go writes as zero.
const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/

const isNewline = (byte: number | undefined) => byte === 0x0a || byte === 0x0d
const isAlphabet = (byte: number) =>
  (byte >= 0x41 && byte <= 0x5a) || // A-Z
  (byte >= 0x61 && byte <= 0x7a) || // a-z
  (byte >= 0x30 && byte <= 0x39) || // 0-9
  byte === 0x2b || // +
  byte === 0x2f // /
const padding = 0x3d

/** Normalizes standard base64 as Go does. Line breaks are accepted. Throws Base64Error. */
export function canonicalBase64(text: string): string {
  if (text.length % 4 === 0 && canonical.test(text)) return text
  const wrong = firstWrongByte(Buffer.from(text))
  if (wrong !== undefined) throw new Base64Error(wrong)
  return Buffer.from(text, 'base64').toString('base64')
}

function firstWrongByte(bytes: Buffer): number | undefined {
  const afterNewlines = (from: number) => {
    let at = from
    while (isNewline(bytes[at])) at++
    return at
  }
  let inQuantum = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (isAlphabet(byte)) {
      inQuantum = (inQuantum + 1) % 4
      continue
    }
    if (isNewline(byte)) continue
    if (byte !== padding || inQuantum < 2) return at
    let end = afterNewlines(at + 1)
    if (inQuantum === 2) {
      if (end === bytes.length) return end
      if (bytes[end] !== padding) return end - 1
      end = afterNewlines(end + 1)
    }
    return end < bytes.length ? end : undefined
  }
  return inQuantum === 0 ? undefined : bytes.length - inQuantum
}
