import { JsonSyntaxError } from './syntax.ts'

const tab = 0x09
const newline = 0x0a
const space = 0x20
const doubleQuote = 0x22
const hash = 0x23
const singleQuote = 0x27
const plus = 0x2b
const comma = 0x2c
const dash = 0x2d
const dot = 0x2e
const colon = 0x3a
const question = 0x3f
const backslash = 0x5c

/** NaN, the character code after the end, compares false with everything, so all loops end there. */
const isBlank = (code: number): boolean => code === space || code === tab
const isBlankOrEnd = (code: number): boolean => code === space || code === newline || code === tab || code !== code
const isFlowIndicator = (code: number): boolean =>
  code === comma || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d

const escapes: Record<string, string> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
}
const escapeDigits: Record<string, number> = { x: 2, u: 4, U: 8 }

/** Control characters other than tab, line feed and carriage return. */
// oxlint-disable-next-line no-control-regex
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/

/**
 * The text of a YAML document and the current position: lines, blanks and scalars. Each character is visited a constant
 * number of times.
 */
export class YamlReader {
  readonly text: string
  at = 0
  /** The start of the current line. */
  lineStart = 0

  constructor(text: string) {
    const broken = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
    this.text = broken.charCodeAt(0) === 0xfeff ? broken.slice(1) : broken
    if (controls.test(this.text)) throw new JsonSyntaxError('yaml: control characters are not allowed')
  }

  get column(): number {
    return this.at - this.lineStart
  }

  code(offset = 0): number {
    return this.text.charCodeAt(this.at + offset)
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length || this.#isMarkerAt(this.at, this.lineStart)
  }

  /** True at an indicator: a character followed by white space. */
  isIndicator(code: number): boolean {
    return this.code() === code && isBlankOrEnd(this.code(1))
  }

  fail(problem: string, at = this.at): never {
    throw new JsonSyntaxError(`yaml: ${this.#lineBefore(at)}${problem}`)
  }

  /** Go omits the line number for the first line. */
  #lineBefore(at: number): string {
    const line = this.lineOf(at)
    return line > 1 ? `line ${line}: ` : ''
  }

  /** The line number of an offset, counted from 1. It scans the text up to there. */
  lineOf(at: number): number {
    let line = 1
    for (let from = this.text.indexOf('\n'); from >= 0 && from < at; from = this.text.indexOf('\n', from + 1)) line++
    return line
  }

  skipBlanks(): void {
    while (isBlank(this.code())) this.at++
  }

  /** Skips blanks, comments and line ends. Returns true if it reached another line. */
  skipToContent(isFlow = false): boolean {
    const { text } = this
    let isOther = this.at === 0
    for (;;) {
      const start = this.at
      while (text.charCodeAt(this.at) === space) this.at++
      const spaces = this.at
      while (isBlank(text.charCodeAt(this.at))) this.at++
      const code = text.charCodeAt(this.at)
      if (code === hash && (this.at === this.lineStart || this.at > start || isBlank(text.charCodeAt(this.at - 1)))) {
        const end = text.indexOf('\n', this.at)
        this.at = end < 0 ? text.length : end
      }
      if (text.charCodeAt(this.at) !== newline) {
        const isIndentedByTab = this.at > spaces && (isOther || start === this.lineStart)
        if (isIndentedByTab && !isFlow && this.at < text.length)
          this.fail('found character that cannot start any token', spaces)
        return isOther
      }
      this.lineStart = ++this.at
      isOther = true
    }
  }

  /** True if a line begins with `---` or `...`, which end a document. */
  #isMarkerAt(at: number, lineStart: number): boolean {
    if (at !== lineStart) return false
    const code = this.text.charCodeAt(at)
    if (code !== dash && code !== dot) return false
    return (
      this.text.charCodeAt(at + 1) === code &&
      this.text.charCodeAt(at + 2) === code &&
      isBlankOrEnd(this.text.charCodeAt(at + 3))
    )
  }

  /** The end of the current line. */
  lineEnd(): number {
    const end = this.text.indexOf('\n', this.at)
    return end < 0 ? this.text.length : end
  }

  /** The name of an anchor or alias. */
  anchorName(): string {
    const start = ++this.at
    while (!isBlankOrEnd(this.code()) && !isFlowIndicator(this.code())) this.at++
    // In `*a: b`, the alias is a key.
    if (this.code(-1) === colon && this.at - 1 > start && isBlankOrEnd(this.code())) this.at--
    if (this.at === start) this.fail('did not find expected alphabetic or numeric character')
    return this.text.slice(start, this.at)
  }

  /** A tag, in its short form if it is one of YAML's own. */
  tag(isFlow: boolean): string {
    const start = this.at
    if (this.code(1) === 0x3c) {
      const end = this.text.indexOf('>', this.at)
      if (end < 0 || end > this.lineEnd()) this.fail("did not find the expected '>'")
      this.at = end + 1
      const uri = this.text.slice(start + 2, end)
      return uri.startsWith('tag:yaml.org,2002:') ? `!!${uri.slice(18)}` : `!${uri}`
    }
    const isEnd = isFlow ? (code: number) => isBlankOrEnd(code) || isFlowIndicator(code) : isBlankOrEnd
    while (!isEnd(this.code())) this.at++
    return this.text.slice(start, this.at)
  }

  /** The part of a plain scalar on the current line, without trailing blanks; empty if none begins here. */
  plainLine(isFlow: boolean): string {
    const { text } = this
    const start = this.at
    let at = start
    let end = start
    for (; ; at++) {
      const code = text.charCodeAt(at)
      if (code > 0x3a && code !== 0x5b && code !== 0x5d && code !== 0x7b && code !== 0x7d && code !== question) {
        end = at + 1
        continue
      }
      if (code === newline || code !== code) break
      if (code === space || code === tab) continue
      if (code === hash && at > start && isBlank(text.charCodeAt(at - 1))) break
      if (code === colon && isBlankOrEnd(text.charCodeAt(at + 1))) break
      if (code === colon && isFlow && isFlowIndicator(text.charCodeAt(at + 1))) break
      if (isFlow && (isFlowIndicator(code) || (code === question && isBlankOrEnd(text.charCodeAt(at + 1))))) break
      end = at + 1
    }
    this.at = end
    return text.slice(start, end)
  }

  /** The remaining lines of a plain scalar: those indented by more than `indent`. */
  plainRest(first: string, indent: number, isFlow: boolean): string {
    const { text } = this
    let parts: string[] | undefined
    for (;;) {
      let at = this.at
      while (isBlank(text.charCodeAt(at))) at++
      if (text.charCodeAt(at) !== newline) break
      let breaks = 0
      let lineStart = at
      while (text.charCodeAt(at) === newline) {
        breaks++
        lineStart = ++at
        while (isBlank(text.charCodeAt(at))) at++
      }
      const code = text.charCodeAt(at)
      if (code !== code || code === hash || this.#isMarkerAt(at, lineStart)) break
      if (!isFlow && at - lineStart <= indent) break
      const before = this.at
      const beforeStart = this.lineStart
      this.at = at
      this.lineStart = lineStart
      const line = this.plainLine(isFlow)
      if (line === '') {
        if (isFlow) break
        this.at = before
        this.lineStart = beforeStart
        this.fail('mapping values are not allowed in this context', at)
      }
      parts ??= [first]
      parts.push(breaks === 1 ? ' ' : '\n'.repeat(breaks - 1), line)
    }
    return parts ? parts.join('') : first
  }

  /** A quoted scalar. */
  quoted(): string {
    const quote = this.code()
    const start = this.at
    const { text } = this
    const mark = quote === singleQuote ? "'" : '"'
    const end = text.indexOf(mark, start + 1)
    if (end < 0) this.fail('found unexpected end of stream', text.length)
    const isEscaped = quote === singleQuote && text.charCodeAt(end + 1) === singleQuote
    if (!isEscaped) {
      const whole = text.slice(start + 1, end)
      if (!whole.includes('\n') && !(quote === doubleQuote && whole.includes('\\'))) {
        this.at = end + 1
        return whole
      }
    }
    this.at++
    return this.#quotedSlowly(quote)
  }

  #quotedSlowly(quote: number): string {
    const { text } = this
    const parts: string[] = []
    let start = this.at
    // The end of the last escape sequence: an escaped blank is not trimmed.
    let fixed = start
    for (;;) {
      const code = text.charCodeAt(this.at)
      if (code !== code) this.fail('found unexpected end of stream')
      if (code === quote) {
        if (quote === doubleQuote || this.code(1) !== singleQuote) break
        parts.push(text.slice(start, this.at + 1))
        start = fixed = this.at += 2
      } else if (code === backslash && quote === doubleQuote) {
        parts.push(text.slice(start, this.at), this.#escape())
        start = fixed = this.at
      } else if (code === newline) {
        let end = this.at
        while (end > fixed && isBlank(text.charCodeAt(end - 1))) end--
        const breaks = this.#lineBreaks()
        parts.push(text.slice(start, end), breaks === 1 ? ' ' : '\n'.repeat(breaks - 1))
        start = fixed = this.at
      } else {
        this.at++
      }
    }
    parts.push(text.slice(start, this.at++))
    return parts.join('')
  }

  /** Skips line ends and leading blanks. Returns the number of line ends. */
  #lineBreaks(): number {
    let breaks = 0
    while (this.code() === newline) {
      breaks++
      this.lineStart = ++this.at
      if (this.#isMarkerAt(this.at, this.lineStart)) this.fail('found unexpected document indicator')
      this.skipBlanks()
    }
    return breaks
  }

  #escape(): string {
    const char = this.text[this.at + 1] ?? ''
    if (char === '\n') {
      this.at++
      return '\n'.repeat(this.#lineBreaks() - 1)
    }
    const digits = Object.hasOwn(escapeDigits, char) ? escapeDigits[char]! : 0
    if (digits) {
      const hexadecimal = this.text.slice(this.at + 2, this.at + 2 + digits)
      if (hexadecimal.length < digits || !/^[0-9a-fA-F]+$/.test(hexadecimal))
        this.fail('did not find expected hexdecimal number')
      const value = Number.parseInt(hexadecimal, 16)
      if (value > 0x10ffff) this.fail('found invalid Unicode character escape code')
      this.at += 2 + digits
      return String.fromCodePoint(value)
    }
    if (!Object.hasOwn(escapes, char)) this.fail('found unknown escape character')
    this.at += 2
    return escapes[char]!
  }

  /** A literal (`|`) or folded (`>`) scalar in a collection with indentation `indent`. */
  blockScalar(indent: number): string {
    const isFolded = this.code() === 0x3e
    this.at++
    let chomp = 0
    let more = 0
    for (let i = 0; i < 2; i++) {
      const code = this.code()
      if (code === plus || code === dash) chomp = code
      else if (code > 0x30 && code <= 0x39) more = code - 0x30
      else break
      this.at++
    }
    this.#headerEnd()
    const base = Math.max(indent, 0)
    const lines = this.#blockLines(more ? base + more : 0, indent + 1)
    let last = lines.length
    while (last > 0 && lines[last - 1] === '') last--
    const kept = lines.slice(0, last)
    const body = isFolded ? folded(kept) : kept.join('\n')
    if (chomp === dash) return body
    if (chomp === plus) return body + '\n'.repeat(lines.length - last + (last > 0 ? 1 : 0))
    return last > 0 ? `${body}\n` : body
  }

  #headerEnd(): void {
    const start = this.at
    this.skipBlanks()
    const isComment = this.code() === hash && this.at > start
    if (isComment) this.at = this.lineEnd()
    if (this.at < this.text.length && this.code() !== newline) this.fail('did not find expected comment or line break')
  }

  /** The lines of a block scalar without their indentation. If `indent` is 0, the first nonempty line determines it. */
  #blockLines(fixed: number, least: number): string[] {
    const { text } = this
    const lines: string[] = []
    let indent = fixed
    let deepest = 0
    for (;;) {
      // `at` is at a line end or the end.
      if (this.at >= text.length) return lines
      const lineStart = this.at + 1
      let at = lineStart
      const deepestHere = indent === 0 ? text.length : lineStart + indent
      while (text.charCodeAt(at) === space && at < deepestHere) at++
      const code = text.charCodeAt(at)
      if (code !== code && at === lineStart) {
        // A final line end does not begin another line.
        this.at = text.length
        this.lineStart = lineStart
        return lines
      }
      const isEmpty = code === newline || code !== code
      if (!isEmpty && indent === 0) indent = Math.max(at - lineStart, least, deepest, 1)
      if (!isEmpty && (at - lineStart < indent || this.#isMarkerAt(at, lineStart))) {
        this.lineStart = this.at = lineStart
        return lines
      }
      if (isEmpty && indent === 0) deepest = Math.max(deepest, at - lineStart)
      const end = text.indexOf('\n', at)
      lines.push(isEmpty ? '' : text.slice(at, end < 0 ? text.length : end))
      this.at = end < 0 ? text.length : end
      this.lineStart = lineStart
    }
  }
}

/** Folds lines as `>` does: joins them with blanks, except at empty lines and lines that begin with a blank. */
function folded(lines: readonly string[]): string {
  const parts: string[] = []
  let breaks = 0
  let wasIndented = false
  lines.forEach((line, i) => {
    if (line === '') {
      breaks++
      return
    }
    const isIndented = isBlank(line.charCodeAt(0))
    if (i > 0) {
      if (parts.length === 0) parts.push('\n'.repeat(breaks))
      else if (isIndented || wasIndented) parts.push('\n'.repeat(breaks + 1))
      else parts.push(breaks === 0 ? ' ' : '\n'.repeat(breaks))
    }
    parts.push(line)
    breaks = 0
    wasIndented = isIndented
  })
  return parts.join('')
}
