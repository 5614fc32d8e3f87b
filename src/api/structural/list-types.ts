import { jsonText, sortKeys } from '../json/index.ts'
import { type Fields, type Json, isFields } from '../object.ts'
import { type FieldError, duplicate } from '../validation/field-error.ts'
import type { Path } from '../validation/path.ts'
import { pathIn } from './correlate.ts'
import { type Schema, fieldSchema, listKeys, valuesOf } from './schema.ts'

/** Finds duplicate items in lists of type set and map. */
export type ListCheck = (value: unknown, path: Path | undefined, errors: FieldError[]) => void

const textOf = (value: unknown): string => jsonText(sortKeys(value as Json))

/** Returns the check of a schema. Undefined if it has no such list. */
export function listCheckOf(schema: Schema): ListCheck | undefined {
  const type = schema['x-kubernetes-list-type']
  const keys = listKeys(schema)
  const own = type === 'set' ? setCheck : keys ? keyedCheck(keys, schema.items) : undefined
  const items = schema.items && listCheckOf(schema.items)
  const parts = partChecks(schema)
  if (!own && !items && !parts) return undefined
  return (value, path, errors) => {
    if (Array.isArray(value)) {
      own?.(value, path!, errors)
      if (items) for (const [i, item] of value.entries()) items(item, path!.index(i), errors)
    } else if (isFields(value) && parts) parts(value, path, errors)
  }
}

function partChecks(schema: Schema): ListCheck | undefined {
  const byName = new Map<string, ListCheck>()
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const check = listCheckOf(property)
    if (check) byName.set(name, check)
  }
  const values = valuesOf(schema)
  const rest = values && listCheckOf(values)
  if (!rest && byName.size === 0) return undefined
  return (value, path, errors) => {
    for (const name in value as Fields) {
      const check = byName.get(name) ?? (fieldSchema(schema, name) === values ? rest : undefined)
      const isKey = !byName.has(name)
      check?.((value as Fields)[name], isKey && path ? path.key(name) : pathIn(path, name), errors)
    }
  }
}

function setCheck(value: unknown[], path: Path, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const [i, item] of value.entries()) {
    const text = textOf(item)
    if (seen.has(text)) errors.push(duplicate(path.index(i), item))
    seen.add(text)
  }
}

const keyedCheck =
  (keys: readonly string[], items: Schema | undefined) =>
  (value: unknown[], path: Path, errors: FieldError[]): void => {
    const seen = new Set<string>()
    for (const [i, item] of value.entries()) {
      if (!isFields(item)) continue
      const key: Fields = {}
      for (const name of keys) {
        const given = item[name] ?? items?.properties?.[name]?.default
        if (given !== undefined) key[name] = given
      }
      const text = textOf(key)
      if (seen.has(text)) errors.push(duplicate(path.index(i), key))
      seen.add(text)
    }
  }
