import { Double, Uint, type Value } from '../values.ts'
import { isInt64, toInt64 } from '../../numbers/int64.ts'

const simpleEscapes: Record<string, number> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '"': 34,
  "'": 39,
  '\\': 92,
  '?': 63,
  '`': 96,
}

interface Piece {
  code: number
  /** A `\x` or octal escape: one byte in a bytes literal, one character in a string. */
  isByte: boolean
  length: number
}

function readEscape(body: string, at: number): Piece {
  const kind = body[at + 1]!
  const simple = simpleEscapes[kind]
  if (simple !== undefined) return { code: simple, isByte: false, length: 2 }
  const digits = { x: 2, X: 2, u: 4, U: 8 }[kind]
  if (digits) {
    const code = Number.parseInt(body.slice(at + 2, at + 2 + digits), 16)
    return { code, isByte: digits === 2, length: 2 + digits }
  }
  return { code: Number.parseInt(body.slice(at + 1, at + 4), 8), isByte: true, length: 4 }
}

const isSurrogate = (code: number) => code >= 0xd800 && code <= 0xdfff

function* pieces(body: string, isRaw: boolean): Generator<Piece> {
  for (let at = 0; at < body.length;) {
    const code = body.codePointAt(at)!
    const piece = code === 92 && !isRaw ? readEscape(body, at) : { code, isByte: false, length: code > 0xffff ? 2 : 1 }
    yield piece
    at += piece.length
  }
}

/** Splits a literal: `rb'x'` is raw with body `x`. */
function unquote(text: string): { isRaw: boolean; body: string } {
  const prefix = /^[a-zA-Z]*/.exec(text)![0]
  const rest = text.slice(prefix.length)
  const quote = rest.startsWith('"""') || rest.startsWith("'''") ? 3 : 1
  const body = rest
    .slice(quote, rest.length - quote)
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
  return { isRaw: /r/i.test(prefix), body }
}

/** The value of a string literal; undefined if an escape is not a valid character. */
export function parseStringLiteral(text: string): string | undefined {
  const { isRaw, body } = unquote(text)
  if (isRaw || !body.includes('\\')) return body
  let result = ''
  for (const { code } of pieces(body, isRaw)) {
    if (code > 0x10ffff || isSurrogate(code)) return undefined
    result += String.fromCodePoint(code)
  }
  return result
}

/** The value of a bytes literal such as `b'\xff'`; undefined if an escape is not a valid character. */
export function parseBytesLiteral(text: string): Uint8Array | undefined {
  const { isRaw, body } = unquote(text)
  const bytes: number[] = []
  for (const { code, isByte } of pieces(body, isRaw)) {
    if (isByte) bytes.push(code)
    else if (code > 0x10ffff || isSurrogate(code)) return undefined
    else bytes.push(...Buffer.from(String.fromCodePoint(code), 'utf8'))
  }
  return Uint8Array.from(bytes)
}

/** The value of a number literal with its sign; undefined if it does not fit. */
export function parseNumberLiteral(
  kind: 'int' | 'uint' | 'float',
  text: string,
  isNegative: boolean,
): Value | undefined {
  if (kind === 'float') {
    const value = Number(text) * (isNegative ? -1 : 1)
    return Number.isFinite(value) ? new Double(value) : undefined
  }
  const magnitude = BigInt(kind === 'uint' ? text.slice(0, -1) : text)
  if (kind === 'uint') return !isNegative && magnitude < 1n << 64n ? new Uint(magnitude) : undefined
  const value = isNegative ? -magnitude : magnitude
  return isInt64(value) ? toInt64(value) : undefined
}
