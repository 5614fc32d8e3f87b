import { RecentFields } from './recent-fields.ts'
import { type Field, staticTable } from './static-table.ts'

const tableBytes = 4096
/** A larger field would evict too many others. */
const maxIndexedBytes = 256
const staticNames = new Map<string, number>()
const staticFields = new Map<string, number>()
for (const [i, { name, value }] of staticTable.entries()) {
  if (!staticNames.has(name)) staticNames.set(name, i + 1)
  staticFields.set(`${name}\0${value}`, i + 1)
}

/** Fields with a different value in each message, which are not added to the table. */
const unindexed = new Set([
  ':path',
  'content-length',
  'audit-id',
  'date',
  'etag',
  'warning',
  'location',
  'authorization',
])

/**
 * Encodes header blocks. Each block depends on the blocks before it. Blocks are Latin-1 strings, one character for each
 * byte.
 */
export class HeaderEncoder {
  /** The position of each field in the table, by name and value, counted from 1 over all insertions. */
  readonly #known = new Map<string, number>()
  #inserted = 0
  #recent = new RecentFields(tableBytes, ({ name, value }) => this.#known.delete(`${name}\0${value}`))
  /** Table size updates for the start of the next block: the smallest size since the last block, and the final one. */
  #resized: { smallest: number; capacity: number } | undefined

  /** Sets the table size that the peer supports. */
  setTableBytes(bytes: number): void {
    const capacity = Math.min(bytes, tableBytes)
    this.#recent.resize(capacity)
    this.#resized = { smallest: Math.min(capacity, this.#resized?.smallest ?? capacity), capacity }
  }

  encode(fields: readonly Field[]): string {
    let block = this.#resized ? this.#resizing(this.#resized) : ''
    for (const field of fields) block += this.#field(field)
    return block
  }

  #resizing({ smallest, capacity }: { smallest: number; capacity: number }): string {
    this.#resized = undefined
    return (smallest < capacity ? integer(0x20, 0x1f, smallest) : '') + integer(0x20, 0x1f, capacity)
  }

  #field(field: Field): string {
    const { name, value } = field
    const key = `${name}\0${value}`
    const fixed = staticFields.get(key)
    if (fixed) return integer(0x80, 0x7f, fixed)
    const known = this.#known.get(key)
    if (known) return integer(0x80, 0x7f, staticTable.length + 1 + this.#inserted - known)
    const named = staticNames.get(name) ?? 0
    const text = named ? stringOf(value) : stringOf(name) + stringOf(value)
    if (unindexed.has(name) || key.length > maxIndexedBytes) return integer(0, 0x0f, named) + text
    // Evicts first, so that the position of this field is not deleted.
    this.#recent.add(field)
    if (this.#recent.get(0) === field) this.#known.set(key, ++this.#inserted)
    return integer(0x40, 0x3f, named) + text
  }
}

const stringOf = (text: string): string => integer(0, 0x7f, text.length) + text

/** Encodes an integer whose first bits are those of `prefix`, in a byte with the flags `first`. */
function integer(first: number, prefix: number, value: number): string {
  if (value < prefix) return String.fromCharCode(first | value)
  let text = String.fromCharCode(first | prefix)
  let rest = value - prefix
  for (; rest >= 0x80; rest >>>= 7) text += String.fromCharCode(0x80 | (rest & 0x7f))
  return text + String.fromCharCode(rest)
}
