import type { Field } from './static-table.ts'

/** The overhead of an entry in the size of the table (RFC 7541, section 4.1). */
const overhead = 32
export const sizeOf = ({ name, value }: Field): number => name.length + value.length + overhead

/** The dynamic table: the most recent fields that fit. Both ends of a connection have the same one. */
export class RecentFields {
  #fields: Field[] = []
  #size = 0
  #capacity: number
  readonly #onEvict: ((field: Field) => void) | undefined

  constructor(capacity: number, onEvict?: (field: Field) => void) {
    this.#capacity = capacity
    this.#onEvict = onEvict
  }

  get length(): number {
    return this.#fields.length
  }

  /** 0 is the newest field. */
  get(age: number): Field | undefined {
    return this.#fields[this.#fields.length - 1 - age]
  }

  add(field: Field): void {
    const size = sizeOf(field)
    this.#makeRoom(size)
    if (size > this.#capacity) return
    this.#fields.push(field)
    this.#size += size
  }

  resize(capacity: number): void {
    this.#capacity = capacity
    this.#makeRoom(0)
  }

  #makeRoom(size: number): void {
    let evicted = 0
    while (this.#size + size > this.#capacity && evicted < this.#fields.length) {
      const field = this.#fields[evicted++]!
      this.#size -= sizeOf(field)
      this.#onEvict?.(field)
    }
    if (evicted > 0) this.#fields = this.#fields.slice(evicted)
  }
}
