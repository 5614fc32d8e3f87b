import { type Json, isFields } from '../object.ts'

/** A syntax error of JSON or YAML, in the words of Go's parser. */
export class JsonSyntaxError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'JsonSyntaxError'
  }
}

/** A number as it was written: a reader of integers rejects `3.0`. */
export class NumberLiteral {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** An object as it was written: in order, with duplicate keys. */
export class Members {
  readonly entries: [key: string, value: Tree][] = []
}

/** A syntax tree of JSON. */
export type Tree = null | boolean | string | NumberLiteral | Tree[] | Members

/** Go's limit for nested objects and lists. */
const maxDepth = 10_000

const escapes: Record<string, string> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
  '\x07': '\\a',
}

/** A character as Go quotes it in errors. Of a non-ASCII character, Go quotes the first byte. */
function quoted(text: string, at: number): string {
  const char = text[at]!
  if (char === "'") return "'\\''"
  if (char === '"') return "'\"'"
  const byte = Buffer.from(text.slice(at, at + 2))[0]!
  if (escapes[char]) return `'${escapes[char]}'`
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, '0')}'`
  if ((byte >= 0x80 && byte <= 0xa0) || byte === 0xad) return `'\\u00${byte.toString(16)}'`
  return `'${String.fromCharCode(byte)}'`
}

class Reader {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  fail(context: string): never {
    if (this.at >= this.text.length) throw new JsonSyntaxError('unexpected end of JSON input')
    throw new JsonSyntaxError(`invalid character ${quoted(this.text, this.at)} ${context}`)
  }

  /** The next character that is not white space; empty at the end of the text. */
  peek(): string {
    for (; this.at < this.text.length; this.at++) {
      const c = this.text[this.at]!
      if (c !== ' ' && c !== '\n' && c !== '\r' && c !== '\t') return c
    }
    return ''
  }

  string(): string {
    const start = this.at++
    for (;;) {
      const c = this.text[this.at]
      if (c === '"') break
      if (c === undefined || c < ' ') this.fail('in string literal')
      if (c === '\\') this.#escape()
      else this.at++
    }
    this.at++
    return JSON.parse(this.text.slice(start, this.at)) as string
  }

  #escape() {
    const c = this.text[++this.at]
    if (c === undefined || !'"\\/bfnrtu'.includes(c)) this.fail('in string escape code')
    this.at++
    if (c !== 'u') return
    for (let i = 0; i < 4; i++, this.at++) {
      if (!/[0-9a-fA-F]/.test(this.text[this.at] ?? '')) this.fail('in \\u hexadecimal character escape')
    }
  }

  #digits(context: string) {
    if (!isDigit(this.text[this.at])) this.fail(context)
    while (isDigit(this.text[this.at])) this.at++
  }

  number(): NumberLiteral {
    const start = this.at
    if (this.text[this.at] === '-') this.at++
    if (this.text[this.at] === '0') this.at++
    else this.#digits('in numeric literal')
    if (this.text[this.at] === '.') {
      this.at++
      this.#digits('after decimal point in numeric literal')
    }
    if (/[eE]/.test(this.text[this.at] ?? '')) {
      this.at++
      if (/[+-]/.test(this.text[this.at] ?? '')) this.at++
      this.#digits('in exponent of numeric literal')
    }
    return new NumberLiteral(this.text.slice(start, this.at))
  }

  literal<T>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++) {
      this.at++
      if (this.text[this.at] !== word[i]) this.fail(`in literal ${word} (expecting '${word[i]}')`)
    }
    this.at++
    return value
  }

  scalar(): Tree {
    const c = this.peek()
    if (c === '"') return this.string()
    if (c === 't') return this.literal('true', true)
    if (c === 'f') return this.literal('false', false)
    if (c === 'n') return this.literal('null', null)
    if (c === '-' || isDigit(c)) return this.number()
    this.fail('looking for beginning of value')
  }

  key(): string {
    if (this.peek() !== '"') this.fail('looking for beginning of object key string')
    const key = this.string()
    if (this.peek() !== ':') this.fail('after object key')
    this.at++
    return key
  }
}

const isDigit = (c: string | undefined) => c !== undefined && c >= '0' && c <= '9'

/**
 * Parses JSON to a syntax tree. Throws JsonSyntaxError where Go does. It does not recurse, so deep nesting uses no
 * stack.
 */
export function parseTree(text: string): Tree {
  const reader = new Reader(text)
  const open: (Tree[] | Members)[] = []
  let root: Tree = null
  let key = ''
  const put = (value: Tree) => {
    const parent = open.at(-1)
    if (parent === undefined) root = value
    else if (Array.isArray(parent)) parent.push(value)
    else parent.entries.push([key, value])
  }
  for (;;) {
    const c = reader.peek()
    if (c === '{' || c === '[') {
      if (open.length >= maxDepth) reader.fail('exceeded max depth')
      reader.at++
      const container = c === '{' ? new Members() : []
      put(container)
      open.push(container)
      if (reader.peek() !== closing(container)) {
        if (container instanceof Members) key = reader.key()
        continue
      }
    } else {
      put(reader.scalar())
    }
    for (;;) {
      const inside = open.at(-1)
      const next = reader.peek()
      if (inside === undefined) {
        if (next !== '') reader.fail('after top-level value')
        return root
      }
      if (next === closing(inside)) {
        reader.at++
        open.pop()
        continue
      }
      if (next !== ',') reader.fail(inside instanceof Members ? 'after object key:value pair' : 'after array element')
      reader.at++
      if (inside instanceof Members) key = reader.key()
      break
    }
  }
}

const closing = (container: Tree[] | Members) => (container instanceof Members ? '}' : ']')

/** The syntax tree of a value without a text: keys are sorted, as Go writes maps. */
export function treeOf(value: Json): Tree {
  if (typeof value === 'number' || typeof value === 'bigint') return new NumberLiteral(String(value))
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(treeOf)
  const members = new Members()
  for (const key of Object.keys(value).sort())
    if (value[key] !== undefined) members.entries.push([key, treeOf(value[key])])
  return members
}

/** Sets an own property of any name, including `__proto__`. */
export function setKey<T>(object: Record<string, T>, key: string, value: T) {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

const integerLiteral = /^-?\d+$/

/** Parses a number: a bigint for an integer that is not safe and has no exponent. */
export function exactNumber(text: string): number | bigint {
  const value = Number(text)
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value
  if (integerLiteral.test(text)) return BigInt(text)
  // JavaScript writes 1e20 as 100000000000000000000, and 1e21 as it is.
  const written = String(value)
  return integerLiteral.test(written) ? BigInt(written) : value
}

/** The plain value of a tree. Duplicate keys are merged as Go does, which decodes the second value into the first. */
export function plainValue(tree: Tree): Json {
  if (tree instanceof NumberLiteral) return exactNumber(tree.text)
  if (Array.isArray(tree)) return tree.map(plainValue)
  if (!(tree instanceof Members)) return tree
  const out: { [key: string]: Json } = {}
  for (const [key, value] of tree.entries) {
    const now = plainValue(value)
    setKey(out, key, Object.hasOwn(out, key) ? merged(out[key]!, now) : now)
  }
  return out
}

/** Both values are new and unshared, so the first is changed in place: a field repeated n times costs no copies. */
function merged(before: Json, now: Json): Json {
  if (!isFields(before) || !isFields(now)) return now
  for (const key of Object.keys(now))
    setKey(before, key, Object.hasOwn(before, key) ? merged(before[key]!, now[key]!) : now[key]!)
  return before
}
