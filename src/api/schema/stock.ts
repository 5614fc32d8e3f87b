import { schema } from '../generated/schema.ts'
import type { Field, FieldType } from './schema.ts'

/** True by type name if a type has one of our additions, itself or nested. Recursive references do not count. */
const known = new Map<string, boolean>()

function hasOwnFields(name: string): boolean {
  const before = known.get(name)
  if (before !== undefined) return before
  known.set(name, false)
  const has = Object.values(schema[name]?.fields ?? {}).some(
    (field) => field.isOurs || structsIn(field.type).some(hasOwnFields),
  )
  known.set(name, has)
  return has
}

function structsIn(type: FieldType): string[] {
  if (type.kind === 'struct') return [type.name]
  return type.kind === 'list' || type.kind === 'map' ? structsIn(type.of) : []
}

/**
 * The name of a type without our additions: its own name if it has none, otherwise that of a copy in the schema table,
 * which is created on first use.
 */
export function stockType(name: string): string {
  if (!hasOwnFields(name)) return name
  const stock = `Stock${name}`
  if (!schema[stock]) {
    const fields: Record<string, Field> = {}
    schema[stock] = { ...schema[name]!, fields }
    for (const [key, field] of Object.entries(schema[name]!.fields)) {
      if (!field.isOurs) fields[key] = { ...field, type: withStockStructs(field.type) }
    }
  }
  return stock
}

function withStockStructs(type: FieldType): FieldType {
  if (type.kind === 'struct') return { ...type, name: stockType(type.name) }
  return type.kind === 'list' || type.kind === 'map' ? { ...type, of: withStockStructs(type.of) } : type
}
