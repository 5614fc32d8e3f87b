import { expandMacro, reservedWords } from './macros.ts'
import { type Call, type MapEntry, type MessageNode, type Node, isDeeper } from './ast.ts'
import type { Token } from './lexer.ts'
import { parseBytesLiteral, parseNumberLiteral, parseStringLiteral } from './literals.ts'
import type { Issue } from './source.ts'
import { Abort, TokenReader } from './token-reader.ts'

/** The parsed expression, or its syntax errors. */
type Parsed = { node: Node; issues?: undefined } | { node?: undefined; issues: Issue[] }

/** cel-go's limits for the nesting of an expression, and for its length in code points. */
const maxDepth = 250
const maxCodePoints = 100_000
/** The limit for nested brackets and operators together. */
const maxTreeDepth = 1_000
/** Parsing stops after this many errors. */
const maxMistakes = 100

const keywords = new Set(['true', 'false', 'null', 'in'])
const relations = new Set(['<', '<=', '>=', '>', '==', '!=', 'in'])
const operands =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

const isRelation = (token: Token) => (token.kind === 'symbol' || token.text === 'in') && relations.has(token.text)
const isSymbol = (token: Token, symbols: string) =>
  token.kind === 'symbol' && token.text.length === 1 && symbols.includes(token.text)

/** A recursive-descent parser of CEL's grammar. Common errors have the messages of cel-go's generated parser. */
class Parser extends TokenReader {
  #depth = 0

  parse(): Node {
    const node = this.#expression()
    if (this.next.kind !== 'end') {
      const isLast = this.ahead(1).kind === 'end'
      this.fail(`${isLast ? 'extraneous' : 'mismatched'} input '${this.next.text}' expecting <EOF>`)
    }
    return node
  }

  #expression(): Node {
    if (++this.#depth > maxDepth) this.tooDeep(`expression recursion limit exceeded: ${maxDepth}`)
    const condition = this.#logical('||', () => this.#logical('&&', () => this.#relation()))
    const question = this.take('?')
    let node = condition
    if (question) {
      const yes = this.#logical('||', () => this.#logical('&&', () => this.#relation()))
      this.expect(':', "':'")
      node = call('_?_:_', question.offset, [condition, yes, this.#expression()])
    }
    this.#depth--
    return node
  }

  /** A left-associative chain of binary operators. Each operator makes the tree one level deeper. */
  #chain(operators: (token: Token) => boolean, operand: () => Node): Node {
    let left = operand()
    for (let links = 0; operators(this.next); links++) {
      if (links >= maxDepth) this.tooDeep('max recursion depth exceeded')
      const { text, offset } = this.advance()
      left = call(text === 'in' ? '@in' : `_${text}_`, offset, [left, operand()])
    }
    return left
  }

  /** A chain of `&&` or `||` as a balanced tree, so a long chain is not deep. */
  #logical(operator: '&&' | '||', operand: () => Node): Node {
    const terms = [operand()]
    const offsets: number[] = []
    for (let token = this.take(operator); token; token = this.take(operator)) {
      offsets.push(token.offset)
      terms.push(operand())
    }
    const build = (from: number, to: number): Node => {
      if (from === to) return terms[from]!
      const middle = Math.floor((from + to) / 2)
      return call(`_${operator}_`, offsets[middle]!, [build(from, middle), build(middle + 1, to)])
    }
    return build(0, terms.length - 1)
  }

  #relation(): Node {
    return this.#chain(
      (token) => isRelation(token),
      () => this.#sum(),
    )
  }

  #sum(): Node {
    return this.#chain(
      (token) => isSymbol(token, '+-'),
      () => this.#product(),
    )
  }

  #product(): Node {
    return this.#chain(
      (token) => isSymbol(token, '*/%'),
      () => this.#unary(),
    )
  }

  #unary(): Node {
    if (!this.is('!', '-')) return this.#member()
    const sign = this.next
    let count = 0
    while (this.take(sign.text)) count++
    // Two signs cancel out. `-` before a number is part of the literal: -9223372036854775808 is an int, but
    // 9223372036854775808 is not.
    const isOdd = count % 2 === 1
    if (sign.text === '-' && isOdd && count === 1 && (this.next.kind === 'int' || this.next.kind === 'float')) {
      return this.#suffixes(this.#number(true, sign.offset))
    }
    const operand = this.#member()
    return isOdd ? call(sign.text === '!' ? '!_' : '-_', sign.offset, [operand]) : operand
  }

  #member(): Node {
    return this.#suffixes(this.#primary())
  }

  #suffixes(first: Node): Node {
    let node = first
    let links = 0
    for (;;) {
      if (links++ > maxDepth) this.tooDeep('max recursion depth exceeded')
      const dot = this.take('.')
      const open = dot ? undefined : this.take('[')
      if (dot) node = this.#selection(node, dot)
      else if (open) {
        const isOptional = this.take('?') !== undefined
        const index = this.#expression()
        this.expect(']', "']'")
        node = call(isOptional ? '_[?_]' : '_[_]', open.offset, [node, index])
      } else return node
    }
  }

  #selection(operand: Node, dot: Token): Node {
    const isOptional = this.take('?') !== undefined
    const token = this.next
    if (token.kind === 'escaped' || (token.kind === 'ident' && isOptional)) {
      this.advance()
      if (token.kind === 'escaped') this.report(token.offset, "unsupported syntax: '`'")
      const field = token.kind === 'escaped' ? token.text.slice(1, -1) : token.text
      if (!isOptional) return { kind: 'select', offset: dot.offset, operand, field, isTest: false }
      return call('_?._', dot.offset, [operand, { kind: 'literal', offset: token.offset, value: field }])
    }
    if (token.kind !== 'ident') {
      if (isOptional) this.fail(`mismatched input '${token.text}' expecting {IDENTIFIER, ESC_IDENTIFIER}`)
      this.fail(`no viable alternative at input '.${token.text}'`)
    }
    if (keywords.has(token.text)) this.fail(`mismatched input '${token.text}' expecting IDENTIFIER`)
    this.advance()
    const open = this.take('(')
    if (!open) return { kind: 'select', offset: dot.offset, operand, field: token.text, isTest: false }
    const args = this.#arguments()
    return this.#call({ kind: 'call', offset: open.offset, function: token.text, target: operand, args })
  }

  #call(node: Call): Node {
    const expanded = expandMacro(node)
    if (!expanded) return node
    if ('issue' in expanded) {
      this.issues.push(expanded.issue)
      return node
    }
    return expanded.node
  }

  #arguments(): Node[] {
    const args: Node[] = []
    if (this.take(')')) return args
    do args.push(this.#expression())
    while (this.take(','))
    this.expect(')', "{')', ','}")
    return args
  }

  #primary(): Node {
    const token = this.next
    if (token.kind === 'symbol') {
      if (token.text === '.' && this.ahead(1).kind === 'ident') {
        this.advance()
        return this.#name(true)
      }
      if (this.take('(')) {
        const inner = this.#expression()
        this.expect(')', "')'")
        return inner
      }
      if (this.take('[')) return this.#list(token.offset)
      if (this.take('{')) return this.#map(token.offset)
    } else if (token.kind === 'ident' && token.text !== 'in') return this.#name(false)
    else if (token.kind !== 'end' && token.kind !== 'escaped' && token.kind !== 'ident') return this.#literal()
    // A single extra token is skipped if the token after it fits, as in ANTLR.
    const after = this.ahead(1)
    const canFollow =
      after &&
      (['ident', 'int', 'uint', 'float', 'string', 'bytes'].includes(after.kind) ||
        ['(', '[', '{', '!', '-'].includes(after.text))
    if (token.kind === 'symbol' && canFollow) {
      this.report(token.offset, `Syntax error: extraneous input '${token.text}' expecting ${operands}`)
      this.advance()
      if (this.issues.length > maxMistakes) throw new Abort()
      return this.#unary()
    }
    this.report(token.offset, `Syntax error: mismatched input '${token.text}' expecting ${operands}`)
    if (token.kind !== 'end' && token.kind !== 'escaped' && after?.kind === 'end') {
      this.report(after.offset, `Syntax error: mismatched input '${after.text}' expecting ${operands}`)
    }
    throw new Abort()
  }

  #name(isRooted: boolean): Node {
    const token = this.advance()
    const message = this.#message(token, isRooted)
    if (message) return message
    const name = (isRooted ? '.' : '') + token.text
    if (!isRooted) {
      if (token.text === 'true' || token.text === 'false')
        return { kind: 'literal', offset: token.offset, value: token.text === 'true' }
      if (token.text === 'null') return { kind: 'literal', offset: token.offset, value: null }
    }
    if (reservedWords.has(token.text)) this.report(token.offset, `reserved identifier: ${token.text}`)
    const open = this.take('(')
    if (!open) return { kind: 'ident', offset: token.offset, name }
    return this.#call({ kind: 'call', offset: open.offset, function: name, args: this.#arguments() })
  }

  /** An object literal `a.b.Name{field: value}`, if a brace follows the names. */
  #message(first: Token, isRooted: boolean): MessageNode | undefined {
    let length = 0
    let name = (isRooted ? '.' : '') + first.text
    while (this.ahead(length).text === '.' && this.ahead(length + 1).kind === 'ident') {
      name += `.${this.ahead(length + 1).text}`
      length += 2
    }
    const open = this.ahead(length)
    if (open.kind !== 'symbol' || open.text !== '{') return undefined
    this.advance(length + 1)
    const fields: MessageNode['fields'] = []
    while (!this.take('}')) {
      const isOptional = this.take('?') !== undefined
      const field = this.next
      if (field.kind === 'escaped') this.report(field.offset, "unsupported syntax: '`'")
      if (field.kind !== 'ident' && field.kind !== 'escaped')
        this.fail(`mismatched input '${field.text}' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}`)
      this.advance()
      const colon = this.expect(':', "':'")
      fields.push({ offset: colon.offset, name: field.text.replaceAll('`', ''), value: this.#expression(), isOptional })
      if (!this.take(',') && !this.is('}')) this.fail(`mismatched input '${this.next.text}' expecting '}'`)
    }
    return { kind: 'message', offset: open.offset, name, fields }
  }

  #list(offset: number): Node {
    const elements: Node[] = []
    const optional = new Set<number>()
    while (!this.take(']')) {
      if (this.take('?')) optional.add(elements.length)
      elements.push(this.#expression())
      if (!this.take(',') && !this.is(']')) {
        this.fail(`mismatched input '${this.next.text}' expecting {']', ','}`)
      }
    }
    return { kind: 'list', offset, elements, optional }
  }

  #map(offset: number): Node {
    const entries: MapEntry[] = []
    while (!this.take('}')) {
      const isOptional = this.take('?') !== undefined
      const key = this.#expression()
      const colon = this.expect(':', "':'")
      entries.push({ offset: colon.offset, key, value: this.#expression(), isOptional })
      if (!this.take(',') && !this.is('}')) {
        this.fail(`mismatched input '${this.next.text}' expecting {'}', ','}`)
      }
    }
    return { kind: 'map', offset, entries }
  }

  #number(isNegative: boolean, offset: number): Node {
    const token = this.advance()
    const value = parseNumberLiteral(token.kind as 'int' | 'uint' | 'float', token.text, isNegative)
    if (value === undefined)
      this.report(token.offset, `invalid ${token.kind === 'float' ? 'double' : token.kind} literal`)
    return { kind: 'literal', offset, value: value ?? 0 }
  }

  #literal(): Node {
    const token = this.next
    if (token.kind === 'int' || token.kind === 'uint' || token.kind === 'float')
      return this.#number(false, token.offset)
    this.advance()
    const value = token.kind === 'string' ? parseStringLiteral(token.text) : parseBytesLiteral(token.text)
    if (value === undefined) this.report(token.offset, `invalid ${token.kind} literal`)
    return { kind: 'literal', offset: token.offset, value: value ?? '' }
  }
}

const call = (name: string, offset: number, args: Node[]): Call => ({ kind: 'call', offset, function: name, args })

/** Parses an expression and expands its macros. */
export function parse(text: string): Parsed {
  const size = [...text].length
  if (size > maxCodePoints) {
    return {
      issues: [
        { offset: 0, message: `expression code point size exceeds limit: size: ${size}, limit ${maxCodePoints}` },
      ],
    }
  }
  const parser = new Parser(text)
  try {
    const node = parser.parse()
    if (isDeeper(node, maxTreeDepth)) parser.tooDeep('max recursion depth exceeded')
    return parser.issues.length ? { issues: parser.issues } : { node }
  } catch (error) {
    if (error instanceof Abort) return { issues: parser.issues }
    throw error
  }
}
