import { schema } from '../generated/schema.ts'
import type { Json } from '../object.ts'
import type { FieldType, ScalarType } from './schema.ts'

/** The field names from a structure to a value, with `[]` for a list item and `{}` for a map entry. */
export type FieldPath = readonly string[]

/** For tests: the paths of all values with a scalar type in a structure. Recursive structures are skipped. */
export function pathsTo(kind: ScalarType, typeName: string, above: readonly string[] = []): FieldPath[] {
  if (above.includes(typeName)) return []
  const below = (type: FieldType): FieldPath[] => {
    switch (type.kind) {
      case 'struct':
        return pathsTo(kind, type.name, [...above, typeName])
      case 'list':
        return below(type.of).map((path) => ['[]', ...path])
      case 'map':
        return below(type.of).map((path) => ['{}', ...path])
      default:
        return type.kind === kind ? [[]] : []
    }
  }
  return Object.values(schema[typeName]!.fields).flatMap(({ name, type }) => below(type).map((path) => [name, ...path]))
}

/** For tests: a value with `leaf` at the path, and nothing else. */
export function valueAt([step, ...rest]: FieldPath, leaf: Json): Json {
  if (step === undefined) return leaf
  const inner = valueAt(rest, leaf)
  return step === '[]' ? [inner] : { [keyOf(step)]: inner }
}

/** For tests: the value at the path. Undefined if there is none. */
export function readAt(value: unknown, path: FieldPath): unknown {
  let at = value
  for (const step of path) at = (at as Record<string, unknown> | null | undefined)?.[keyOf(step)]
  return at
}

const keyOf = (step: string): string => (step === '[]' ? '0' : step === '{}' ? 'key' : step)
