import { setKey } from './syntax.ts'

/** A deep copy of a JSON tree. */
export function cloneObject<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  return copy(value) as T
}

function copy(value: object): object {
  if (Array.isArray(value)) {
    // A list that grows item by item reserves room for 17 items: the lists of a pod would take 1.4 KB more.
    const out: unknown[] = value.slice()
    for (let i = 0; i < out.length; i++) {
      const item = out[i]
      if (typeof item === 'object' && item !== null) out[i] = copy(item)
    }
    return out
  }
  // A spread keeps the hidden class, and own keys named __proto__. Only nested values must be replaced.
  const out = { ...value } as Record<string, unknown>
  for (const key in out) {
    const item = out[key]
    if (typeof item === 'object' && item !== null) setKey(out, key, copy(item))
  }
  return out
}

/**
 * Copies a JSON tree that was derived from `original`. Subtrees that are the same object or list as in `original` are
 * not copied but added to `shared`. The root is always copied.
 */
export function cloneChanged<T>(value: T, original: unknown, shared: Set<object>): T {
  if (typeof value !== 'object' || value === null) return value
  return copyChanged(value, typeof original === 'object' && original !== null ? original : {}, shared) as T
}

function copyChanged(value: object, original: object, shared: Set<object>): object {
  const change = (item: object, was: unknown): object => {
    if (item !== was) return typeof was === 'object' && was !== null ? copyChanged(item, was, shared) : copy(item)
    shared.add(item)
    return item
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, i) =>
      typeof item === 'object' && item !== null ? change(item, (original as unknown[])[i]) : item,
    )
  }
  const out = { ...value } as Record<string, unknown>
  for (const key in out) {
    const item = out[key]
    if (typeof item === 'object' && item !== null) setKey(out, key, change(item, (original as typeof out)[key]))
  }
  return out
}

/** Deep-freezes a JSON tree and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const item of Object.values(value)) deepFreeze(item)
  return Object.freeze(value)
}
