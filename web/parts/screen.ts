/** A character with its colours, which are CSS class names. */
interface Glyph {
  text: string
  style: string
}

/** Characters of a line that are drawn alike. */
export interface Run {
  text: string
  /** CSS class names. */
  style: string
}

/** Joins the characters of a line that are drawn alike. The cursor is a run of its own, also after the end of the line. */
export function runsOf(line: readonly Glyph[], cursorAt?: number): Run[] {
  const runs: Run[] = []
  const length = Math.max(line.length, cursorAt === undefined ? 0 : cursorAt + 1)
  for (let at = 0; at < length; at++) {
    const { text, style } = line[at] ?? blank
    const own = at === cursorAt ? `${style} cursor`.trim() : style
    const last = runs.at(-1)
    if (last?.style === own && at !== cursorAt) last.text += text
    else runs.push({ text, style: own })
  }
  return runs
}

const blank: Glyph = { text: ' ', style: '' }
const scrollback = 1000

// eslint-disable-next-line no-control-regex
const escapeSequence = /^\u001b(?:\[([?>]?)([\d;]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][\w]|([=>78DEM]))/

/**
 * The screen of a terminal: the part of VT100 that shells and their line editors use. Lines that scroll out are kept
 * above the screen.
 */
export class Screen {
  readonly columns: number
  readonly rows: number
  readonly lines: Glyph[][] = [[]]
  /** Number of lines that are no longer kept. */
  dropped = 0
  readonly #versions = new WeakMap<readonly Glyph[], number>()
  #row = 0
  #column = 0
  #style = ''
  #saved = { row: 0, column: 0 }
  /** The start of an incomplete escape sequence. */
  #rest = ''

  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
  }

  get cursor(): { row: number; column: number } {
    return { row: this.#row, column: this.#column }
  }

  /** Returns a number that is another one after each change of a line. */
  versionOf(line: readonly Glyph[]): number {
    return this.#versions.get(line) ?? 0
  }

  write(text: string): void {
    const all = this.#rest + text
    this.#rest = ''
    for (let at = 0; at < all.length;) {
      const letter = all[at]!
      if (letter !== '\u001b') {
        this.#letter(letter)
        at++
        continue
      }
      const found = escapeSequence.exec(all.slice(at, at + 512))
      if (!found) {
        if (all.length - at < 512) {
          this.#rest = all.slice(at)
          return
        }
        at++
        continue
      }
      const [whole, mark, numbers = '', command, single] = found
      if (command && mark === '') this.#control(command, numbers.split(';').map(Number))
      else if (single === '7') this.#saved = this.cursor
      else if (single === '8') ({ row: this.#row, column: this.#column } = this.#saved)
      at += whole.length
    }
  }

  /** The first line of the screen. The lines before it have scrolled out. */
  get #top(): number {
    return Math.max(0, this.lines.length - this.rows)
  }

  #letter(letter: string): void {
    if (letter === '\n') this.#down()
    else if (letter === '\r') this.#column = 0
    else if (letter === '\b') this.#column = Math.max(0, this.#column - 1)
    else if (letter === '\t') this.#column = Math.min(this.columns - 1, (Math.floor(this.#column / 8) + 1) * 8)
    else if (letter >= ' ' && letter !== '\u007f') {
      if (this.#column >= this.columns) {
        this.#column = 0
        this.#down()
      }
      const line = this.lines[this.#row]!
      while (line.length < this.#column) line.push(blank)
      line[this.#column++] = { text: letter, style: this.#style }
      this.#changed(line)
    }
  }

  #changed(line: readonly Glyph[]): void {
    this.#versions.set(line, this.versionOf(line) + 1)
  }

  #down(): void {
    this.#row++
    if (this.#row === this.lines.length) this.lines.push([])
    if (this.lines.length > scrollback) {
      this.lines.shift()
      this.dropped++
      this.#row--
    }
  }

  #control(command: string, numbers: readonly number[]): void {
    const [a = 0, b = 0] = numbers
    const line = this.lines[this.#row]!
    this.#changed(line)
    const by = a || 1
    if (command === 'A') this.#row = Math.max(this.#top, this.#row - by)
    else if (command === 'B') for (let i = 0; i < by; i++) this.#down()
    else if (command === 'C') this.#column = Math.min(this.columns - 1, this.#column + by)
    else if (command === 'D') this.#column = Math.max(0, this.#column - by)
    else if (command === 'G') this.#column = by - 1
    else if (command === 'H' || command === 'f') {
      this.#row = this.#top
      for (let i = 1; i < by; i++) this.#down()
      this.#column = (b || 1) - 1
    } else if (command === 'K') {
      if (a === 0) line.length = Math.min(line.length, this.#column)
      else for (let i = 0; i < (a === 1 ? this.#column + 1 : line.length); i++) line[i] = blank
    } else if (command === 'J' && a >= 2) {
      const top = this.#top
      for (let i = top; i < this.lines.length; i++) this.lines[i] = []
    } else if (command === 'J') {
      line.length = Math.min(line.length, this.#column)
      this.lines.length = this.#row + 1
    } else if (command === 'P') line.splice(this.#column, by)
    else if (command === '@') line.splice(this.#column, 0, ...Array.from({ length: by }, () => blank))
    else if (command === 'm') for (const code of numbers) this.#colour(code)
  }

  #colour(code: number): void {
    if (code === 0) this.#style = ''
    else if (code === 1) this.#style = `${this.#style} bold`.trim()
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
      this.#style = `${this.#style.replace(/\s*c\d/, '')} c${code % 10}`.trim()
    else if (code === 39) this.#style = this.#style.replace(/\s*c\d/, '')
  }
}

/** The characters that a key sends. Undefined for a key that the browser handles. */
export function keyText({
  key,
  ctrlKey,
  altKey,
  metaKey,
}: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'altKey' | 'metaKey'>): string | undefined {
  if (metaKey) return undefined
  const named: Readonly<Record<string, string>> = {
    Enter: '\r',
    Backspace: '\u007f',
    Tab: '\t',
    Escape: '\u001b',
    Delete: '\u001b[3~',
    ArrowUp: '\u001b[A',
    ArrowDown: '\u001b[B',
    ArrowRight: '\u001b[C',
    ArrowLeft: '\u001b[D',
    Home: '\u001b[H',
    End: '\u001b[F',
  }
  if (key in named) return named[key]
  if (key.length !== 1) return undefined
  if (ctrlKey)
    return /^[a-z@[\]\\^_]$/i.test(key) ? String.fromCharCode(key.toUpperCase().charCodeAt(0) & 31) : undefined
  return altKey ? `\u001b${key}` : key
}
