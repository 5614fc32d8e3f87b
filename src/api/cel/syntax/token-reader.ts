import { type Token, tokenize } from './lexer.ts'
import { type Issue, nowhere } from './source.ts'

/** Aborts parsing if nothing valid can follow. */
export class Abort extends Error {}

/** Reads the tokens of an expression and collects errors. */
export class TokenReader {
  readonly issues: Issue[]
  readonly #tokens: Token[]
  #at = 0

  constructor(text: string) {
    const { tokens, issues } = tokenize(text)
    this.#tokens = tokens
    this.issues = issues
  }

  /** The current token. The end of the text is a token, too. */
  get next(): Token {
    return this.#tokens[this.#at]!
  }

  /** The token `n` positions ahead; the end if there is none. */
  ahead(count: number): Token {
    return this.#tokens[Math.min(this.#at + count, this.#tokens.length - 1)]!
  }

  /** Consumes the next token, or several. */
  advance(count = 1): Token {
    const token = this.next
    this.#at = Math.min(this.#at + count, this.#tokens.length - 1)
    return token
  }

  /** Consumes the next token if it is this symbol. */
  take(symbol: string): Token | undefined {
    return this.is(symbol) ? this.advance() : undefined
  }

  is(...symbols: string[]): boolean {
    return this.next.kind === 'symbol' && symbols.includes(this.next.text)
  }

  report(offset: number, message: string): void {
    this.issues.push({ offset, message })
  }

  fail(message: string): never {
    this.report(this.next.offset, `Syntax error: ${message}`)
    throw new Abort()
  }

  /** Reports an error of the whole expression. */
  tooDeep(message: string): never {
    this.report(nowhere, message)
    throw new Abort()
  }

  /** Consumes a required symbol. `expecting` lists the expected tokens as cel-go's parser prints them. */
  expect(symbol: string, expecting: string): Token {
    const token = this.take(symbol)
    if (token) return token
    const { kind, text } = this.next
    if (kind === 'end' && symbol === ')') this.fail(`missing '${symbol}' at '${text}'`)
    return this.fail(`mismatched input '${text}' expecting ${expecting}`)
  }
}
