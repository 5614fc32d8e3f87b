import { RecentFields } from './recent-fields.ts'
import { type Field, staticTable } from './static-table.ts'

const tableBytes = 4096
/** A field that takes more than this would drive out too many others. */
const longestKept = 256
const staticNames = new Map<string, number>()
const staticFields = new Map<string, number>()
for (const [i, { name, value }] of staticTable.entries()) {
  if (!staticNames.has(name)) staticNames.set(name, i + 1)
  staticFields.set(`${name}\0${value}`, i + 1)
}

/** These differ from message to message, so that it is no use to remember them. */
const passing = new Set([':path', 'content-length', 'audit-id', 'date', 'etag', 'warning', 'location', 'authorization'])

/**
 * Writes blocks of header fields, each with what the ones before have left behind. Blocks are texts of one letter a
 * byte.
 */
export class HeaderEncoder {
  /** By name and value: which one it is of all that were ever remembered, from 1. */
  readonly #known = new Map<string, number>()
  #remembered = 0
  #recent = new RecentFields(tableBytes, ({ name, value }) => this.#known.delete(`${name}\0${value}`))
  /** Sizes that the next block has to begin with: the smallest since the last one, and the one that holds. */
  #resized: { smallest: number; capacity: number } | undefined

  /** How much the other side remembers. */
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
    if (known) return integer(0x80, 0x7f, staticTable.length + 1 + this.#remembered - known)
    const named = staticNames.get(name) ?? 0
    const text = named ? stringOf(value) : stringOf(name) + stringOf(value)
    if (passing.has(name) || key.length > longestKept) return integer(0, 0x0f, named) + text
    // First what is driven out, so that it is not this one's number that is forgotten.
    this.#recent.add(field)
    if (this.#recent.get(0) === field) this.#known.set(key, ++this.#remembered)
    return integer(0x40, 0x3f, named) + text
  }
}

const stringOf = (text: string): string => integer(0, 0x7f, text.length) + text

/** A number that begins in the bits of `prefix`, beside those of `first`. */
function integer(first: number, prefix: number, value: number): string {
  if (value < prefix) return String.fromCharCode(first | value)
  let text = String.fromCharCode(first | prefix)
  let rest = value - prefix
  for (; rest >= 0x80; rest >>>= 7) text += String.fromCharCode(0x80 | (rest & 0x7f))
  return text + String.fromCharCode(rest)
}
