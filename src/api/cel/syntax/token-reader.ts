import { type Token, tokenize } from './lexer.ts'
import { type Issue, nowhere } from './source.ts'

/** Ends the reading of an expression in which nothing sensible can follow. */
export class Abort extends Error {}

/** Goes through the words of an expression, and collects what is wrong with it. */
export class TokenReader {
  readonly issues: Issue[]
  readonly #tokens: Token[]
  #at = 0

  constructor(text: string) {
    const { tokens, issues } = tokenize(text)
    this.#tokens = tokens
    this.issues = issues
  }

  /** The word that is to be read; the end is one, too. */
  get next(): Token {
    return this.#tokens[this.#at]!
  }

  /** A word further on; the end if there is none. */
  ahead(count: number): Token {
    return this.#tokens[Math.min(this.#at + count, this.#tokens.length - 1)]!
  }

  /** Takes the next word, or several. */
  advance(count = 1): Token {
    const token = this.next
    this.#at = Math.min(this.#at + count, this.#tokens.length - 1)
    return token
  }

  /** Takes the next word if it is this symbol. */
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

  /** An error of the whole expression. */
  tooDeep(message: string): never {
    this.report(nowhere, message)
    throw new Abort()
  }

  /** Takes a symbol that must follow; `expecting` is how cel-go's parser names what could. */
  expect(symbol: string, expecting: string): Token {
    const token = this.take(symbol)
    if (token) return token
    const { kind, text } = this.next
    if (kind === 'end' && symbol === ')') this.fail(`missing '${symbol}' at '${text}'`)
    return this.fail(`mismatched input '${text}' expecting ${expecting}`)
  }
}
