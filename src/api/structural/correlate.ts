import { jsonText } from '../json/index.ts'
import { Path } from '../validation/path.ts'
import { type Schema, listKeys } from './schema.ts'
import { isFields } from '../object.ts'

/** The path of a field below `path`. Undefined is the root. */
export const pathIn = (path: Path | undefined, name: string): Path => path?.child(name) ?? Path.of(name)

/** The path of a list item. */
export const pathAt = (path: Path | undefined, i: number): Path => path?.index(i) ?? Path.of(`[${i}]`)

/** The old value of a field. Undefined if there was none. */
export const correlate = (old: unknown, name: string): unknown =>
  isFields(old) && Object.hasOwn(old, name) ? old[name] : undefined

const none = () => undefined

/** Returns a function that finds the old version of a list item: by its keys, or never if the list has no keys. */
export function correlateItems(schema: Schema, old: unknown): (item: unknown) => unknown {
  const keys = listKeys(schema)
  if (!keys || !Array.isArray(old)) return none
  const keyOf = (item: unknown) => (isFields(item) ? jsonText(keys.map((key) => item[key] ?? null)) : '')
  const byKey = new Map(old.map((item) => [keyOf(item), item as unknown]))
  return (item) => byKey.get(keyOf(item))
}
