/** Where a command writes: a terminal, a file or a pipe. */
export interface Output {
  write(text: string): void
  readonly isTerminal: boolean
  readonly hasColour: boolean
  /** Cells of a line, and lines, of the terminal as it is now. */
  readonly columns: number
  readonly rows: number
  /** Calls back when the terminal has another size; the returned function ends that. */
  onResize(listener: () => void): () => void
  /** Hides the cursor, until it is shown again or the process ends. */
  hideCursor(): void
  showCursor(): void
}

/** The cells of a line where nobody knows. */
const defaultColumns = 80
const defaultRows = 24

const hide = '\u001b[?25l'
const show = '\u001b[?25h'

/** Whether the environment wants colours: NO_COLOR and a dumb terminal do not. */
export const wantsColour = (env: Readonly<Record<string, string | undefined>>): boolean =>
  !env['NO_COLOR'] && env['TERM'] !== 'dumb'

/** An output on a stream of the process. */
export function outputOn(stream: NodeJS.WriteStream, env: Readonly<Record<string, string | undefined>>): Output {
  const isTerminal = stream.isTTY === true
  const restore = () => stream.write(show)
  return {
    isTerminal,
    hasColour: isTerminal && wantsColour(env),
    write: (text) => void stream.write(text),
    get columns() {
      return stream.columns || defaultColumns
    },
    get rows() {
      return stream.rows || defaultRows
    },
    onResize(listener) {
      stream.on('resize', listener)
      return () => stream.off('resize', listener)
    },
    hideCursor() {
      process.once('exit', restore)
      stream.write(hide)
    },
    showCursor() {
      process.off('exit', restore)
      restore()
    },
  }
}
