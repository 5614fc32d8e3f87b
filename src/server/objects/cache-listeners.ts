import type { KubeObject } from '../../api/object.ts'
import type { LineType, StoredObject } from './stored-object.ts'

export type CacheEventType = LineType

/**
 * A change of one object. `previous` is undefined for a new object. The `object` of a deletion is the last state, at
 * the revision of the deletion.
 */
export interface CacheEvent {
  type: CacheEventType
  object: StoredObject
  previous: StoredObject | undefined
}

/** Called with the events of one commit, in order. */
export type CacheListener = (events: readonly CacheEvent[], revision: number) => void

/** A field with the single value that a listener requires, such as the node of a pod. */
export interface WantedField {
  name: string
  value: string
  read(object: KubeObject): string
}

interface FieldListeners {
  read(object: KubeObject): string
  byValue: Map<string, Set<CacheListener>>
}

/**
 * The listeners of a cache. A listener for one field value is called only for events of objects that have or had that
 * value. With 4,000 nodes that each watch their pods, calling all listeners took 3.3 ms per pod event.
 */
export class CacheListeners {
  readonly #all = new Set<CacheListener>()
  readonly #byField = new Map<string, FieldListeners>()
  #fieldCount = 0

  get size(): number {
    return this.#all.size + this.#fieldCount
  }

  /** The returned function removes the listener. */
  add(listener: CacheListener, wanted?: WantedField): () => void {
    if (wanted) return this.#addForField(listener, wanted)
    this.#all.add(listener)
    return () => this.#all.delete(listener)
  }

  #addForField(listener: CacheListener, { name, value, read }: WantedField): () => void {
    const field = this.#byField.get(name) ?? { read, byValue: new Map<string, Set<CacheListener>>() }
    this.#byField.set(name, field)
    const listeners = field.byValue.get(value) ?? new Set<CacheListener>()
    field.byValue.set(value, listeners)
    listeners.add(listener)
    this.#fieldCount++
    return () => {
      if (!listeners.delete(listener)) return
      this.#fieldCount--
      if (listeners.size > 0 || field.byValue.get(value) !== listeners) return
      field.byValue.delete(value)
      if (field.byValue.size === 0 && this.#byField.get(name) === field) this.#byField.delete(name)
    }
  }

  tell(events: readonly CacheEvent[], revision: number): void {
    for (const listener of this.#all) listener(events, revision)
    for (const field of Array.from(this.#byField.values())) {
      for (const [value, its] of eventsByValue(field, events))
        for (const listener of field.byValue.get(value) ?? []) listener(its, revision)
    }
  }

  clear(): void {
    this.#all.clear()
    for (const { byValue } of this.#byField.values()) for (const listeners of byValue.values()) listeners.clear()
    this.#byField.clear()
    this.#fieldCount = 0
  }
}

function eventsByValue({ read, byValue }: FieldListeners, events: readonly CacheEvent[]): Map<string, CacheEvent[]> {
  const found = new Map<string, CacheEvent[]>()
  for (const event of events) {
    for (const value of valuesOf(event, read) ?? byValue.keys()) {
      const its = found.get(value)
      if (its) its.push(event)
      else found.set(value, [event])
    }
  }
  return found
}

/**
 * The field's values before and after the event. Undefined if the object cannot be read: then each listener has to
 * handle the error.
 */
function valuesOf({ object, previous }: CacheEvent, read: FieldListeners['read']): Iterable<string> | undefined {
  try {
    const now = read(object.object)
    const before = previous ? read(previous.object) : now
    return now === before ? [now] : [before, now]
  } catch {
    return undefined
  }
}
