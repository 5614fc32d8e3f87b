/** The type of a column: numbers, free text, or strings that repeat and are sent as an index into a dictionary. */
export type ColumnType = 'number' | 'text' | 'word'

export type Value = number | string

interface Row {
  readonly id: number
  values: readonly Value[]
  revision: number
}

/** The position of a client in a table, which it sends to resume. */
export interface Position {
  epoch: string
  revision: number
  /** Number of dictionary words that the client has. */
  words: number
}

/** The values of one column. */
export type Column = number[] | number | string

/** Separator of the texts in a column: a character that JSON does not escape and no name contains. */
export const separator = '\u007f'

/** One message to the page before JSON encoding. The columns of `u` are those of the table, after the column of ids. */
export interface Frame {
  /** The client's revision after this frame. Undefined if more frames of the same state follow. */
  r?: number
  /** 1 removes all rows first. */
  s?: 1
  /** Index of the first new dictionary word, and the words. */
  w?: [number, ...string[]]
  /**
   * New or changed rows by column. Ids are encoded as differences. A text column is one string, joined by `separator`.
   * A column with the same number in all rows is that number.
   */
  u?: Column[]
  /** Ids of removed rows. */
  x?: number[]
}

/** Maximum number of rows in a frame. A browser parses 5,000 rows in a few milliseconds. */
const rowsPerFrame = 5000
/** Number of deleted rows that are remembered for resuming clients. */
const tombstonesKept = 20_000
/** A dictionary with fewer words than this is never renewed. */
const fewWords = 1000

/**
 * The rows of one topic and their changes since a revision. Rows are keyed by name, and the page identifies them by
 * number. Each frame increments the revision.
 */
export class Table {
  readonly columns: readonly ColumnType[]
  readonly #name: string
  readonly #rows = new Map<string, Row>()
  #words: string[] = []
  readonly #wordIndex = new Map<string, number>()
  /** The dictionary is examined when it has more words than this. */
  #wordLimit = fewWords
  #renewals = 0
  readonly #dirty = new Set<Row>()
  #gone: { id: number; revision: number }[] = []
  /** Clients at an older revision get a snapshot, because older tombstones are gone. */
  #oldest = 0
  #nextId = 0
  #revision = 0

  /** `name` is unique among all tables, and identifies this one in the positions of clients. */
  constructor(columns: readonly ColumnType[], name: string) {
    this.columns = columns
    this.#name = name
  }

  /** Changes when the dictionary is renewed. Clients of another epoch get a snapshot. */
  get epoch(): string {
    return this.#renewals === 0 ? this.#name : `${this.#name}.${this.#renewals}`
  }

  get revision(): number {
    return this.#revision
  }

  /** The position of a client that has received everything up to the last cut. */
  get position(): Position {
    return { epoch: this.epoch, revision: this.#revision, words: this.#words.length }
  }

  get size(): number {
    return this.#rows.size
  }

  get isDirty(): boolean {
    return this.#dirty.size > 0 || this.#gone.at(-1)?.revision === this.#revision + 1
  }

  keys(): IterableIterator<string> {
    return this.#rows.keys()
  }

  /** Sets a row. Equal values are not a change. */
  set(key: string, values: readonly Value[]): void {
    const row = this.#rows.get(key)
    if (row && row.values.every((value, i) => value === values[i])) return
    const changed = row ?? { id: this.#nextId++, values, revision: 0 }
    changed.values = values
    changed.revision = this.#revision + 1
    if (!row) this.#rows.set(key, changed)
    this.#dirty.add(changed)
  }

  delete(key: string): void {
    const row = this.#rows.get(key)
    if (!row) return
    this.#rows.delete(key)
    this.#dirty.delete(row)
    this.#gone.push({ id: row.id, revision: this.#revision + 1 })
  }

  /** Begins a new epoch if less than half of the dictionary is in use. */
  renewWords(): void {
    if (this.#words.length <= this.#wordLimit) return
    const used = new Set<Value>()
    for (const { values } of this.#rows.values())
      for (const [i, type] of this.columns.entries()) if (type === 'word') used.add(values[i]!)
    this.#wordLimit = Math.max(fewWords, 2 * used.size)
    if (this.#words.length <= this.#wordLimit) return
    this.#words = []
    this.#wordIndex.clear()
    this.#renewals++
  }

  /**
   * Returns the changes since the last cut as a frame for all clients at the previous revision; undefined if there are
   * none. A frame has a limited number of rows; `isDirty` is true if more remain.
   */
  cut(): Frame | undefined {
    if (!this.isDirty) return undefined
    const next = ++this.#revision
    const before = this.#words.length
    const dirty = [...this.#dirty]
    const rows = dirty.length > rowsPerFrame ? dirty.slice(0, rowsPerFrame) : dirty
    this.#dirty.clear()
    for (let i = rowsPerFrame; i < dirty.length; i++) {
      dirty[i]!.revision = next + 1
      this.#dirty.add(dirty[i]!)
    }
    const gone: number[] = []
    for (let i = this.#gone.length - 1; i >= 0 && this.#gone[i]!.revision === next; i--) gone.push(this.#gone[i]!.id)
    this.#forgetOldTombstones()
    return this.#frame(rows, gone, before, next)
  }

  /** The tombstones of the next revision are not sent yet, so only those of cut revisions may be forgotten. */
  #forgetOldTombstones(): void {
    if (this.#gone.length <= tombstonesKept) return
    this.#oldest = this.#gone[this.#gone.length >> 1]!.revision
    this.#gone = this.#gone.filter(({ revision }) => revision > this.#oldest)
  }

  /** Returns the frames from a client's position to the last cut: changes if they are known, else a snapshot. */
  since(position: Position | undefined): Frame[] {
    const isKnown =
      position?.epoch === this.epoch && position.revision >= this.#oldest && position.revision <= this.#revision
    if (isKnown) {
      const { revision } = position
      const rows = [...this.#rows.values()].filter((row) => row.revision > revision && row.revision <= this.#revision)
      const gone = this.#gone.filter((row) => row.revision > revision && row.revision <= this.#revision)
      return this.#frames(
        rows,
        gone.map(({ id }) => id),
        position.words,
      )
    }
    const [first, ...rest] = this.#frames([...this.#rows.values()], [], 0)
    return [{ s: 1, ...first }, ...rest]
  }

  #frames(rows: readonly Row[], gone: number[], words: number): Frame[] {
    const frames: Frame[] = []
    let known = words
    for (let at = 0; at === 0 || at < rows.length; at += rowsPerFrame) {
      const isLast = at + rowsPerFrame >= rows.length
      frames.push(
        this.#frame(
          rows.slice(at, at + rowsPerFrame),
          at === 0 ? gone : [],
          known,
          isLast ? this.#revision : undefined,
        ),
      )
      known = this.#words.length
    }
    return frames
  }

  #frame(rows: readonly Row[], gone: number[], words: number, revision: number | undefined): Frame {
    const u =
      rows.length > 0
        ? [differences(rows.map(({ id }) => id)), ...this.columns.map((type, i) => this.#column(type, rows, i))]
        : undefined
    return {
      ...(revision === undefined ? {} : { r: revision }),
      ...(this.#words.length > words ? { w: [words, ...this.#words.slice(words)] as [number, ...string[]] } : {}),
      ...(u ? { u } : {}),
      ...(gone.length > 0 ? { x: gone } : {}),
    }
  }

  #column(type: ColumnType, rows: readonly Row[], i: number): Column {
    if (type === 'text') return rows.map(({ values }) => String(values[i]).replaceAll(separator, ' ')).join(separator)
    const numbers = rows.map(({ values }) =>
      type === 'number' ? (values[i] as number) : this.#word(values[i] as string),
    )
    return numbers.every((number) => number === numbers[0]) ? numbers[0]! : numbers
  }

  #word(text: string): number {
    let index = this.#wordIndex.get(text)
    if (index === undefined) {
      index = this.#words.push(text) - 1
      this.#wordIndex.set(text, index)
    }
    return index
  }
}

const differences = (ids: readonly number[]): number[] => ids.map((id, i) => (i === 0 ? id : id - ids[i - 1]!))
