import { type Json, isFields } from '../object.ts'

export type JsonObject = { [key: string]: Json }

export const isJsonObject = (value: Json | undefined): value is JsonObject => isFields(value)

/** An own field of an object, never an inherited one. */
export const ownField = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** Sets a field of any name, including `__proto__`. */
export function setOwnField(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

/** A copy with each field mapped by `change`. Undefined omits the field. */
export function mapOwnFields(object: JsonObject, change: (value: Json, key: string) => Json | undefined): JsonObject {
  const copy: JsonObject = {}
  for (const key of Object.keys(object)) {
    const value = change(object[key]!, key)
    if (value !== undefined) setOwnField(copy, key, value)
  }
  return copy
}
