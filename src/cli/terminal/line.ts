/** The emphasis of a text on a terminal with colours. */
export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'dim' | 'bold'

/** A piece of a line in one tone. */
export interface Span {
  text: string
  tone?: Tone | undefined
}

/** A line of output before it is cut to the terminal's width and coloured. */
export type Line = readonly Span[]

const codes: Record<Tone, string> = { good: '32', bad: '31', warn: '33', busy: '36', dim: '2', bold: '1' }

/** A line in the default tone. */
export const lineOf = (text: string, tone?: Tone): Line => [{ text, tone }]

/** The text of a line without its tones. */
export const textOf = (line: Line): string => line.map(({ text }) => text).join('')

/** The number of terminal cells that a text takes. Wide letters (Chinese, Japanese, Korean, emoji) take two. */
export function widthOf(text: string): number {
  let width = 0
  for (const letter of text) width += cellsOf(letter.codePointAt(0)!)
  return width
}

/** Ranges of code points that take two cells. */
const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe4f],
  [0xff00, 0xff60],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
]

function cellsOf(code: number): number {
  // Combining marks and joiners are drawn over the letter before them.
  if ((code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) || (code >= 0xfe00 && code <= 0xfe0f))
    return 0
  return code < 0x1100 || !wideRanges.some(([from, to]) => code >= from && code <= to) ? 1 : 2
}

/** Replaces control characters with spaces, because a text of the cluster must not move the terminal's cursor. */
export const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').trim()

/** Cuts a line to a width. `…` marks the cut. */
export function cutLine(line: Line, width: number): Line {
  if (widthOf(textOf(line)) <= width) return line
  const cut: Span[] = []
  let left = width - 1
  for (const { text, tone } of line) {
    let kept = ''
    for (const letter of text) {
      const cells = cellsOf(letter.codePointAt(0)!)
      if (cells > left) return [...cut, { text: `${kept}…`, tone }]
      kept += letter
      left -= cells
    }
    cut.push({ text: kept, tone })
  }
  return cut
}

/** Formats a line for a terminal, or for a file without colours. */
export const painted = (line: Line, hasColour: boolean): string =>
  hasColour
    ? line.map(({ text, tone }) => (tone && text ? `\u001b[${codes[tone]}m${text}\u001b[0m` : text)).join('')
    : textOf(line)

/** Appends spaces to a span up to a width. */
export const padded = (span: Span, width: number): Span => ({
  ...span,
  text: span.text + ' '.repeat(Math.max(0, width - widthOf(span.text))),
})

/** Rows below their titles, with two spaces between columns. The last column is not padded. */
export function tableLines(titles: readonly string[], rows: readonly (readonly Span[])[]): Line[] {
  const widths = titles.map((title, i) => Math.max(widthOf(title), ...rows.map((row) => widthOf(row[i]!.text))))
  const last = titles.length - 1
  const lineOfCells = (cells: readonly Span[]): Line =>
    cells.flatMap((cell, i) => (i === last ? [cell] : [padded(cell, widths[i]!), { text: '  ' }]))
  return [lineOfCells(titles.map((text) => ({ text, tone: 'dim' as const }))), ...rows.map(lineOfCells)]
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/**
 * A bar with a width in cells, of which `share` is filled. Any share above 0 is visible, and only a share of 1 looks
 * full.
 */
export function barOf(share: number, width: number): string {
  const parts =
    share <= 0 ? 0 : share >= 1 ? width * 8 : Math.min(width * 8 - 1, Math.max(1, Math.round(share * width * 8)))
  const drawn = '█'.repeat(Math.floor(parts / 8)) + eighths[parts % 8]!
  return drawn + '░'.repeat(width - [...drawn].length)
}
