/** The type of a column: numbers, free text, or strings that repeat and are sent as an index into a dictionary. */
export type ColumnType = 'number' | 'text' | 'word'

export type Value = number | string

interface Row {
  readonly id: number
  values: readonly Value[]
  revision: number
}

/** A client's position in a table, which it sends when it resumes. */
export interface Position {
  epoch: string
  revision: number
  /** The number of dictionary words that it has. */
  words: number
}

/** The values of one column. */
export type Column = number[] | number | string

/** Stands between the texts of a column: a letter that JSON does not escape, and that no name has. */
export const separator = '\u007f'

/** One message to the page, before it is made JSON. The columns of `u` are those of the table, after the column of ids. */
export interface Frame {
  /** The revision that the client has after this frame. Absent while more frames of the same state follow. */
  r?: number
  /** 1: forget all rows first. */
  s?: 1
  /** The index of the first new dictionary word, and the words. */
  w?: [number, ...string[]]
  /**
   * Rows that are new or changed, column by column. Ids are told as differences. A text column is one string, joined by
   * `separator`. A column with the same number in all rows is that number.
   */
  u?: Column[]
  /** Ids of rows that are gone. */
  x?: number[]
}

/** Rows of one frame. Parsing 5,000 rows takes a browser a few milliseconds. */
const rowsPerFrame = 5000
/** Deleted rows that are remembered for clients that resume. */
const tombstonesKept = 20_000

/**
 * The rows that one topic shows, with what has changed since a revision. Rows are keyed by name; the page knows them by
 * number. Revisions count up with each frame that was cut.
 */
export class Table {
  readonly columns: readonly ColumnType[]
  readonly epoch: string
  readonly #rows = new Map<string, Row>()
  readonly #words: string[] = []
  readonly #wordIndex = new Map<string, number>()
  readonly #dirty = new Set<Row>()
  #gone: { id: number; revision: number }[] = []
  /** Clients at an older revision get a snapshot: tombstones before it are forgotten. */
  #oldest = 0
  #nextId = 0
  #revision = 0

  constructor(columns: readonly ColumnType[], epoch: string) {
    this.columns = columns
    this.epoch = epoch
  }

  get revision(): number {
    return this.#revision
  }

  get words(): number {
    return this.#words.length
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

  /** Sets a row. Values that are the same are no change. */
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
    if (this.#gone.length > tombstonesKept) {
      this.#oldest = this.#gone[this.#gone.length >> 1]!.revision
      this.#gone = this.#gone.filter(({ revision }) => revision > this.#oldest)
    }
  }

  /** What has changed since the last cut, as one frame for everyone who is at the revision before; undefined if nothing has. */
  cut(): Frame | undefined {
    if (!this.isDirty) return undefined
    const next = ++this.#revision
    const before = this.#words.length
    const rows = [...this.#dirty]
    this.#dirty.clear()
    const gone: number[] = []
    for (let i = this.#gone.length - 1; i >= 0 && this.#gone[i]!.revision === next; i--) gone.push(this.#gone[i]!.id)
    return this.#frame(rows, gone, before, next)
  }

  /** Frames that bring a client from its position to the last cut: changes where they are known, else everything. */
  since(position: Position | undefined): Frame[] {
    const isKnown =
      position?.epoch === this.epoch && position.revision >= this.#oldest && position.revision <= this.#revision
    if (isKnown) {
      const { revision } = position
      const rows = [...this.#rows.values()].filter((row) => row.revision > revision && row.revision <= this.#revision)
      const gone = this.#gone.filter((row) => row.revision > revision && row.revision <= this.#revision)
      return this.#frames(rows, gone.map(({ id }) => id), position.words)
    }
    const [first, ...rest] = this.#frames([...this.#rows.values()], [], 0)
    return [{ s: 1, ...first }, ...rest]
  }

  #frames(rows: readonly Row[], gone: number[], words: number): Frame[] {
    const frames: Frame[] = []
    let known = words
    for (let at = 0; at === 0 || at < rows.length; at += rowsPerFrame) {
      const isLast = at + rowsPerFrame >= rows.length
      frames.push(this.#frame(rows.slice(at, at + rowsPerFrame), at === 0 ? gone : [], known, isLast ? this.#revision : undefined))
      known = this.#words.length
    }
    return frames
  }

  #frame(rows: readonly Row[], gone: number[], words: number, revision: number | undefined): Frame {
    const u = rows.length > 0 ? [differences(rows.map(({ id }) => id)), ...this.columns.map((type, i) => this.#column(type, rows, i))] : undefined
    return {
      ...(revision === undefined ? {} : { r: revision }),
      ...(this.#words.length > words ? { w: [words, ...this.#words.slice(words)] as [number, ...string[]] } : {}),
      ...(u ? { u } : {}),
      ...(gone.length > 0 ? { x: gone } : {}),
    }
  }

  #column(type: ColumnType, rows: readonly Row[], i: number): Column {
    if (type === 'text') return rows.map(({ values }) => String(values[i]).replaceAll(separator, ' ')).join(separator)
    const numbers = rows.map(({ values }) => (type === 'number' ? (values[i] as number) : this.#word(values[i] as string)))
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
