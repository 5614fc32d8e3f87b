import type { KubeObject } from '../../api/object.ts'

/** Returns the index values of an object. */
export type IndexFunction<T extends KubeObject = KubeObject> = (object: T) => readonly string[]

interface Index<T extends KubeObject> {
  valuesOf: IndexFunction<T>
  /** Keys of objects, not objects: most updates of an object leave its index values unchanged. */
  byValue: Map<string, Set<string>>
}

const nowhere: readonly string[] = []

/** Finds objects by the values of index functions. */
export class IndexSet<T extends KubeObject> {
  readonly #objects: ReadonlyMap<string, T>
  readonly #indexes = new Map<string, Index<T>>()
  readonly #onError: (index: string, error: unknown) => void

  /**
   * Indexes `objects`; `update` must be called for each change. `onError` receives errors of index functions; the
   * object then has no values in that index.
   */
  constructor(objects: ReadonlyMap<string, T>, onError: (index: string, error: unknown) => void) {
    this.#objects = objects
    this.#onError = onError
  }

  /** Adds an index. Adding the same function under the same name again is allowed. */
  add(name: string, valuesOf: IndexFunction<T>): void {
    const known = this.#indexes.get(name)
    if (known?.valuesOf === valuesOf) return
    if (known) throw new Error(`index ${JSON.stringify(name)} already exists`)
    const index: Index<T> = { valuesOf, byValue: new Map() }
    this.#indexes.set(name, index)
    for (const [key, object] of this.#objects) this.#updateOne(name, index, key, undefined, object)
  }

  get(name: string, value: string): T[] {
    const index = this.#indexes.get(name)
    if (!index) throw new Error(`index ${JSON.stringify(name)} does not exist`)
    const keys = index.byValue.get(value)
    const found: T[] = []
    if (keys) for (const key of keys) found.push(this.#objects.get(key)!)
    return found
  }

  /** Replaces `old` (if any) by `object` (if any). */
  update(key: string, old: T | undefined, object: T | undefined): void {
    for (const [name, index] of this.#indexes) this.#updateOne(name, index, key, old, object)
  }

  #updateOne(name: string, index: Index<T>, key: string, old: T | undefined, object: T | undefined): void {
    const before = old ? this.#valuesOf(name, index, old) : nowhere
    const after = object ? this.#valuesOf(name, index, object) : nowhere
    if (isSame(before, after)) return
    for (const value of before) {
      if (after.includes(value)) continue
      const keys = index.byValue.get(value)
      if (keys?.delete(key) && keys.size === 0) index.byValue.delete(value)
    }
    for (const value of after) {
      const keys = index.byValue.get(value)
      if (keys) keys.add(key)
      else index.byValue.set(value, new Set([key]))
    }
  }

  #valuesOf(name: string, { valuesOf }: Index<T>, object: T): readonly string[] {
    try {
      return valuesOf(object)
    } catch (e) {
      this.#onError(name, e)
      return nowhere
    }
  }
}

function isSame(before: readonly string[], after: readonly string[]): boolean {
  if (before.length !== after.length) return false
  for (let i = 0; i < before.length; i++) if (before[i] !== after[i]) return false
  return true
}
