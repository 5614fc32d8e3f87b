import { schema } from '../../../src/api/generated/schema.ts'
import type { Json } from '../../../src/api/object.ts'
import type { FieldType } from '../../../src/api/schema/index.ts'

/** A field that holds as much as its sender likes, by the way to it from the object. */
export interface GrowingField {
  way: readonly string[]
  type: FieldType
}

/** A value of a type; texts differ by their number. */
function sample(type: FieldType, i: number, levels: number): Json {
  switch (type.kind) {
    case 'struct':
      if (levels === 0) return {}
      return Object.fromEntries(
        Object.values(schema[type.name]!.fields)
          .filter(({ type: inner, required }) => required || inner.kind === 'string')
          .slice(0, 4)
          .map(({ name, type: inner, enum: values }) => [name, values ? values[0]! : sample(inner, i, levels - 1)]),
      )
    case 'list':
      return levels === 0 ? [] : [sample(type.of, i, levels - 1)]
    case 'map':
      return levels === 0 ? {} : { [`k${i}`]: sample(type.of, i, levels - 1) }
    case 'string':
      return `v${i}`
    case 'boolean':
      return true
    case 'bytes':
      return 'AAAA'
    case 'quantity':
      return String(i + 1)
    case 'time':
    case 'microTime':
      return '2026-01-01T00:00:00Z'
    case 'raw':
      return {}
    default:
      return (i % 30_000) + 1
  }
}

/** A list or map of so many items, from a number on. */
export function filled(type: FieldType, count: number, first = 0): Json {
  const numbers = Array.from({ length: count }, (_, i) => first + i)
  if (type.kind === 'list') return numbers.map((i) => sample(type.of, i, 1))
  if (type.kind === 'map') return Object.fromEntries(numbers.map((i) => [`k${i}`, sample(type.of, i, 1)]))
  throw new Error(`a ${type.kind} has no items`)
}

/** Puts a value where a way leads; a step of `[]` is the only item of a list, one of `{}` the only value of a map. */
export const wrapped = (way: readonly string[], value: Json): Json =>
  way.reduceRight<Json>((inner, step) => (step === '[]' ? [inner] : { [step === '{}' ? 'key' : step]: inner }), value)

/** The fields of some kinds below a type, each structure's once in all calls with the same `seen`. */
export function growingFields(typeName: string, kinds: readonly FieldType['kind'][], seen: Set<string>, way: readonly string[] = []): GrowingField[] {
  return Object.values(schema[typeName]!.fields).flatMap(({ name, type }) => {
    const key = `${typeName}.${name}`
    if (seen.has(key)) return []
    seen.add(key)
    const at = [...way, name]
    const own = kinds.includes(type.kind) ? [{ way: at, type }] : []
    const { inner, steps } = innermost(type)
    return inner.kind === 'struct' ? [...own, ...growingFields(inner.name, kinds, seen, [...at, ...steps])] : own
  })
}

/** The innermost type of lists and maps, and the path to it. */
function innermost(type: FieldType, steps: readonly string[] = []): { inner: FieldType; steps: readonly string[] } {
  if (type.kind === 'list') return innermost(type.of, [...steps, '[]'])
  return type.kind === 'map' ? innermost(type.of, [...steps, '{}']) : { inner: type, steps }
}
