import { jsonText } from '../json/index.ts'
import { Path } from '../validation/path.ts'
import { type Schema, isFields, listKeys } from './schema.ts'

/** The path of a field in what stands at `path`; the root has none. */
export const pathIn = (path: Path | undefined, name: string): Path => path?.child(name) ?? Path.of(name)

/** The path of an item of a list. */
export const pathAt = (path: Path | undefined, i: number): Path => path?.index(i) ?? Path.of(`[${i}]`)

/** What a field was in the old version of its object; undefined where there was none. */
export const correlate = (old: unknown, name: string): unknown =>
  isFields(old) && Object.hasOwn(old, name) ? old[name] : undefined

const none = () => undefined

/** Finds the old version of the items of a list: by keys where it has some, and else not at all. */
export function correlateItems(schema: Schema, old: unknown): (item: unknown) => unknown {
  const keys = listKeys(schema)
  if (!keys || !Array.isArray(old)) return none
  const keyOf = (item: unknown) => (isFields(item) ? jsonText(keys.map((key) => item[key] ?? null)) : '')
  const byKey = new Map(old.map((item) => [keyOf(item), item as unknown]))
  return (item) => byKey.get(keyOf(item))
}
