import type { KubeObject } from '../../api/object.ts'

/** The values under which an object is found. */
export type IndexFunction<T extends KubeObject = KubeObject> = (object: T) => readonly string[]

interface Index<T extends KubeObject> {
  valuesOf: IndexFunction<T>
  byValue: Map<string, Map<string, T>>
}

/** Finds objects by what they say: each index by its own function. */
export class IndexSet<T extends KubeObject> {
  readonly #indexes = new Map<string, Index<T>>()
  readonly #onError: (index: string, error: unknown) => void

  /** `onError` gets what an index function throws; the object is then under no value. */
  constructor(onError: (index: string, error: unknown) => void) {
    this.#onError = onError
  }

  /** Adds an index over `objects` and all that follow. The same function under the same name may be added again. */
  add(name: string, valuesOf: IndexFunction<T>, objects: ReadonlyMap<string, T>): void {
    const known = this.#indexes.get(name)
    if (known?.valuesOf === valuesOf) return
    if (known) throw new Error(`there is another index ${JSON.stringify(name)}`)
    const index: Index<T> = { valuesOf, byValue: new Map() }
    this.#indexes.set(name, index)
    for (const [key, object] of objects) this.#updateOne(name, index, key, undefined, object)
  }

  get(name: string, value: string): T[] {
    const index = this.#indexes.get(name)
    if (!index) throw new Error(`there is no index ${JSON.stringify(name)}`)
    const found = index.byValue.get(value)
    return found ? [...found.values()] : []
  }

  /** Takes in that `object`, if any, has taken the place of `old`, if any. */
  update(key: string, old: T | undefined, object: T | undefined): void {
    for (const [name, index] of this.#indexes) this.#updateOne(name, index, key, old, object)
  }

  #updateOne(name: string, index: Index<T>, key: string, old: T | undefined, object: T | undefined): void {
    const after = object ? this.#valuesOf(name, index, object) : []
    if (old) {
      for (const value of this.#valuesOf(name, index, old)) {
        if (after.includes(value)) continue
        const found = index.byValue.get(value)
        if (found?.delete(key) && found.size === 0) index.byValue.delete(value)
      }
    }
    for (const value of after) {
      const found = index.byValue.get(value)
      if (found) found.set(key, object!)
      else index.byValue.set(value, new Map([[key, object!]]))
    }
  }

  #valuesOf(name: string, { valuesOf }: Index<T>, object: T): readonly string[] {
    try {
      return valuesOf(object)
    } catch (e) {
      this.#onError(name, e)
      return []
    }
  }
}
