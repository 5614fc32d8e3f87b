import { type Column, type ColumnType, type Frame, type Position, separator } from '../../src/dashboard/stream/table.ts'

/** A copy of the server's table, updated by frames. A row is an array with one value per column. */
export class Mirror {
  readonly columns: readonly ColumnType[]
  readonly rows = new Map<number, (string | number)[]>()
  /** Increases with each frame. */
  version = 0
  #epoch = ''
  #revision = -1
  #words: string[] = []

  constructor(columns: readonly ColumnType[]) {
    this.columns = columns
  }

  /** True once all initial rows have arrived. */
  get isWhole(): boolean {
    return this.#revision >= 0
  }

  /** The position to resume from. Undefined before all initial rows have arrived. */
  get position(): Position | undefined {
    return this.isWhole ? { epoch: this.#epoch, revision: this.#revision, words: this.#words.length } : undefined
  }

  /** Applies a frame, and returns the ids of rows that were added, changed or removed. */
  take(epoch: string, { r, s, w, u, x }: Frame): number[] {
    this.version++
    if (s) {
      this.rows.clear()
      this.#words = []
      this.#revision = -1
      this.#epoch = epoch
    }
    if (w) {
      const [from, ...words] = w
      this.#words.length = from
      for (const word of words) this.#words.push(word)
    }
    for (const id of x ?? []) this.rows.delete(id)
    const ids = sums((u?.[0] ?? []) as number[])
    if (u) {
      const columns = this.columns.map((type, i) => this.#values(type, u[i + 1]!, ids.length))
      for (const [at, id] of ids.entries())
        this.rows.set(
          id,
          columns.map((column) => column[at]!),
        )
    }
    if (r !== undefined) this.#revision = r
    return x ? [...ids, ...x] : ids
  }

  #values(type: ColumnType, column: Column, length: number): readonly (string | number)[] {
    if (typeof column === 'string') return column.split(separator)
    const numbers = typeof column === 'number' ? Array.from({ length }, () => column) : column
    return type === 'word' ? numbers.map((at) => this.#words[at]!) : numbers
  }
}

function sums(differences: readonly number[]): number[] {
  let id = 0
  return differences.map((difference) => (id += difference))
}
