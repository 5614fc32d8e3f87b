/** The output of a command: a terminal, a file or a pipe. */
export interface Output {
  write(text: string): void
  readonly isTerminal: boolean
  readonly hasColour: boolean
  /** Current columns and rows of the terminal. */
  readonly columns: number
  readonly rows: number
  /** Calls `listener` when the terminal is resized; the returned function unregisters it. */
  onResize(listener: () => void): () => void
  /** Hides the cursor, until it is shown again or the process ends. */
  hideCursor(): void
  showCursor(): void
}

/** Width of an output without a known width. */
const defaultColumns = 80
const defaultRows = 24

const hide = '\u001b[?25l'
const show = '\u001b[?25h'

/** Returns false if NO_COLOR is set or the terminal is dumb. */
export const wantsColour = (env: Readonly<Record<string, string | undefined>>): boolean =>
  !env['NO_COLOR'] && env['TERM'] !== 'dumb'

/** Returns an output on a stream of the process. */
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
