import type { Issue } from './source.ts'

type TokenKind = 'ident' | 'escaped' | 'int' | 'uint' | 'float' | 'string' | 'bytes' | 'symbol' | 'end'

/** One token of an expression. `text` is the source text; the last token is `<EOF>`. */
export interface Token {
  kind: TokenKind
  text: string
  offset: number
}

const space = /[\t\n\f\r ]+|\/\/[^\n]*/y
const number = /0[xX][0-9a-fA-F]+[uU]?|[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|[0-9]+[uU]?/y
const ident = /[_a-zA-Z][_a-zA-Z0-9]*/y
const escaped = /`[a-zA-Z0-9_.\-/ ]+`/y
const symbol = /==|!=|<=|>=|&&|\|\||[<>[\](){}.,\-!?:+*/%]/y
const stringStart = /([bB]?[rR]?|[rR][bB])("""|'''|"|')/y

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

const isHex = (char: string | undefined) => char !== undefined && /[0-9a-fA-F]/.test(char)
const hexEscapes: Record<string, number> = { x: 2, X: 2, u: 4, U: 8 }

/** The length of the escape sequence at `at`. If it is invalid, the negative length of the text up to the error. */
function escapeLength(text: string, at: number): number {
  const kind = text[at + 1]
  if (kind === undefined) return -1
  if ('abfnrtv"\'\\?`'.includes(kind)) return 2
  const digits = hexEscapes[kind]
  if (digits !== undefined) {
    for (let i = 0; i < digits; i++) if (!isHex(text[at + 2 + i])) return -(i + 3)
    return 2 + digits
  }
  return /^[0-3][0-7][0-7]/.test(text.slice(at + 1, at + 4)) ? 4 : -2
}

/**
 * The end of the string literal whose opening quote ends at `from`. If it is invalid, the negative offset of the error.
 */
function endOfString(text: string, from: number, quote: string, isRaw: boolean): number {
  const isLong = quote.length === 3
  let at = from
  while (at < text.length) {
    if (text.startsWith(quote, at)) return at + quote.length
    const char = text[at]!
    if (!isLong && (char === '\n' || char === '\r')) return -at - 1
    if (char === '\\' && !isRaw) {
      const length = escapeLength(text, at)
      if (length < 0) return -Math.min(text.length, at - length)
      at += length
    } else at++
  }
  return -text.length
}

const recognitionError = (text: string, offset: number, to: number): Issue => ({
  offset,
  message: `Syntax error: token recognition error at: '${text.slice(offset, Math.max(to, offset + 1))}'`,
})

const numberKind = (text: string): TokenKind => {
  if (/[uU]$/.test(text)) return 'uint'
  return /^0[xX]/.test(text) || !/[.eE]/.test(text) ? 'int' : 'float'
}

/** Splits an expression into tokens. Text that is not a token is reported and skipped, as in ANTLR. */
export function tokenize(text: string): { tokens: Token[]; issues: Issue[] } {
  const tokens: Token[] = []
  const issues: Issue[] = []
  let at = 0
  while (at < text.length) {
    const blank = match(space, text, at)
    if (blank) {
      at += blank.length
      continue
    }
    const read = readToken(text, at)
    if (typeof read === 'number') {
      issues.push(recognitionError(text, at, read))
      at = Math.max(read, at + 1)
    } else {
      tokens.push(read)
      at += read.text.length
    }
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: text.length })
  return { tokens, issues }
}

/** The token at `at`. If there is none, the offset at which recognition failed. */
function readToken(text: string, at: number): Token | number {
  stringStart.lastIndex = at
  const start = stringStart.exec(text)
  if (start) {
    const prefix = start[1]!.toLowerCase()
    const end = endOfString(text, at + start[0].length, start[2]!, prefix.includes('r'))
    if (end < 0) return -end
    return { kind: prefix.includes('b') ? 'bytes' : 'string', text: text.slice(at, end), offset: at }
  }
  const digits = match(number, text, at)
  if (digits) return { kind: numberKind(digits), text: digits, offset: at }
  const name = match(ident, text, at)
  if (name) return { kind: 'ident', text: name, offset: at }
  const quoted = match(escaped, text, at)
  if (quoted) return { kind: 'escaped', text: quoted, offset: at }
  const sign = match(symbol, text, at)
  if (sign) return { kind: 'symbol', text: sign, offset: at }
  // `=`, `&` and `|` only begin longer symbols, so the character after them is part of the unrecognized text.
  return '=&|'.includes(text[at]!) ? Math.min(at + 2, text.length) : at + (text.codePointAt(at)! > 0xffff ? 2 : 1)
}
