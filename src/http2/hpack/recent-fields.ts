import type { Field } from './static-table.ts'

/** What a field takes besides its letters, by RFC 7541. */
const overhead = 32
export const sizeOf = ({ name, value }: Field): number => name.length + value.length + overhead

/** The fields that a connection has seen last, as many as fit: both of its ends keep the same ones. */
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

  /** The newest one is 0. */
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
