import type { Output } from './output.ts'
import { widthOf } from './line.ts'

/** An output that stores everything that is written. */
export class CapturedOutput implements Output {
  readonly isTerminal = false
  readonly hasColour = false
  readonly columns = 80
  readonly rows = 24
  text = ''

  write(text: string): void {
    this.text += text
  }

  onResize(): () => void {
    return () => {}
  }

  hideCursor(): void {}
  showCursor(): void {}
}

/** A terminal with a screen. It interprets the sequences of live views and counts the written lines. */
export class Screen implements Output {
  readonly isTerminal = true
  readonly hasColour = false
  columns: number
  rows: number
  isCursorHidden = false
  /** The number of lines written since it was last set to 0. */
  written = 0
  #cells: string[] = ['']
  #row = 0
  #column = 0
  readonly #listeners = new Set<() => void>()

  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
  }

  /** The lines on the screen and above it, without trailing spaces and without empty lines at the end. */
  get lines(): string[] {
    const lines = this.#cells.map((line) => line.trimEnd())
    while (lines.at(-1) === '') lines.pop()
    return lines
  }

  write(text: string): void {
    for (const [token] of text.matchAll(/\p{Cc}(?:\[\d*[A-Z])?|\P{Cc}+/gu)) this.#take(token)
  }

  #take(token: string): void {
    const [, count, code] = /^\p{Cc}\[(\d*)([A-Z])$/u.exec(token) ?? []
    if (code === 'A') this.#row = Math.max(0, this.#row - Number(count || 1))
    else if (code === 'B') this.#row = Math.min(this.#cells.length - 1, this.#row + Number(count || 1))
    else if (code === 'K') this.#cells[this.#row] = this.#cells[this.#row]!.slice(0, this.#column)
    else if (code === 'J') this.#cells.splice(this.#row, Infinity, this.#cells[this.#row]!.slice(0, this.#column))
    else if (token === '\r') this.#column = 0
    else if (token === '\n') {
      this.#row++
      if (this.#row === this.#cells.length) this.#cells.push('')
    } else {
      if (widthOf(token) > this.columns)
        throw new Error(`${JSON.stringify(token)} does not fit into ${this.columns} columns`)
      const line = this.#cells[this.#row]!.padEnd(this.#column)
      this.#cells[this.#row] = line.slice(0, this.#column) + token + line.slice(this.#column + token.length)
      this.#column += token.length
      this.written++
    }
  }

  /** Changes the size. Longer lines are wrapped, as by terminals. */
  resize(columns: number, rows: number): void {
    this.columns = columns
    this.rows = rows
    const isAtEnd = this.#row === this.#cells.length - 1
    this.#cells = this.#cells.flatMap((line) => line.trimEnd().match(new RegExp(`.{1,${columns}}`, 'gu')) ?? [''])
    if (isAtEnd) this.#row = this.#cells.length - 1
    for (const listener of this.#listeners) listener()
  }

  onResize(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  hideCursor(): void {
    this.isCursorHidden = true
  }

  showCursor(): void {
    this.isCursorHidden = false
  }
}
