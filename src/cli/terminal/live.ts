import { type Line, cutLine, lineOf, painted, textOf, widthOf } from './line.ts'
import type { Output } from './output.ts'

const up = (lines: number) => (lines > 0 ? `\u001b[${lines}A` : '')
const down = (lines: number) => (lines > 0 ? `\u001b[${lines}B` : '')
const clearToEndOfLine = '\u001b[K'
const clearBelow = '\u001b[J'

/**
 * Replaces lines that do not fit on the screen with their number, because lines that have scrolled out cannot be
 * redrawn.
 */
function fitting(lines: readonly Line[], rows: number): readonly Line[] {
  const room = Math.max(1, rows - 1)
  if (lines.length <= room) return lines
  return [...lines.slice(0, room - 1), lineOf(`… and ${lines.length - room + 1} more lines`, 'dim')]
}

/**
 * Lines on a terminal that are redrawn in place. Only changed lines are written, so that nothing flickers. The cursor
 * is hidden until `close`, and is below the last line.
 */
export class LiveView {
  readonly #output: Output
  readonly #forgetResize: () => void
  /** The lines before they are cut to the width. */
  #lines: readonly Line[] = []
  /** The lines on the screen, as they were written. */
  #shown: readonly { text: string; width: number }[] = []
  #isClosed = false

  constructor(output: Output) {
    this.#output = output
    output.hideCursor()
    this.#forgetResize = output.onResize(() => this.#redraw())
  }

  draw(lines: readonly Line[]): void {
    if (this.#isClosed) return
    this.#lines = lines
    const next = this.#prepared()
    const before = this.#shown
    let text = ''
    // The row of the cursor, counted from the first line.
    let row = before.length
    const goTo = (to: number) => {
      if (to !== row) text += to < row ? up(row - to) : down(to - row)
      row = to
    }
    for (const [i, line] of next.entries()) {
      if (i < before.length) {
        if (before[i]!.text === line.text) continue
        goTo(i)
        text += `\r${line.text}${clearToEndOfLine}`
      } else {
        goTo(i)
        text += `\r${line.text}${clearToEndOfLine}\n`
        row = i + 1
      }
    }
    goTo(next.length)
    if (next.length < before.length) text += `\r${clearBelow}`
    this.#shown = next
    if (text) this.#output.write(`${text}\r`)
  }

  /** Leaves the lines on the screen and shows the cursor. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#forgetResize()
    this.#output.showCursor()
  }

  #prepared(): { text: string; width: number }[] {
    const { columns, rows, hasColour } = this.#output
    return fitting(this.#lines, rows).map((line) => {
      const cut = cutLine(line, columns)
      return { text: painted(cut, hasColour), width: widthOf(textOf(cut)) }
    })
  }

  /**
   * A terminal that became narrower has wrapped lines that were cut for its earlier width. All of their rows are
   * cleared.
   */
  #redraw(): void {
    if (this.#isClosed) return
    const { columns } = this.#output
    const rows = this.#shown.reduce((sum, { width }) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    this.#output.write(`${up(Math.min(rows, this.#output.rows - 1))}\r${clearBelow}`)
    this.#shown = []
    this.draw(this.#lines)
  }
}
