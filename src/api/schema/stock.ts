import { schema } from '../generated/schema.ts'
import type { Field, FieldType } from './schema.ts'

/** By type name: whether it has a field of ours, itself or deeper. A type that refers to itself has none on that account. */
const known = new Map<string, boolean>()

function hasOwnFields(name: string): boolean {
  const before = known.get(name)
  if (before !== undefined) return before
  known.set(name, false)
  const has = Object.values(schema[name]?.fields ?? {}).some((field) => field.isOurs || structsIn(field.type).some(hasOwnFields))
  known.set(name, has)
  return has
}

function structsIn(type: FieldType): string[] {
  if (type.kind === 'struct') return [type.name]
  return type.kind === 'list' || type.kind === 'map' ? structsIn(type.of) : []
}

/**
 * The name of a type as Kubernetes has it, without our additions: the type's own where there are none, else that of a copy
 * in the schema table, which is made when it is first asked for.
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
