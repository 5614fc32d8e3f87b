import { schema } from '../generated/schema.ts'
import { goKind } from '../printing/go-format.ts'
import type { Json } from '../object.ts'
import type { FieldType } from '../schema/schema.ts'
import { isJsonObject, ownField } from './own-fields.ts'

const scalarKinds: Partial<Record<FieldType['kind'], { accepts: string[]; goKind: string }>> = {
  string: { accepts: ['string'], goKind: 'string' },
  boolean: { accepts: ['bool'], goKind: 'bool' },
  int32: { accepts: ['int64'], goKind: 'int32' },
  int64: { accepts: ['int64'], goKind: 'int64' },
  double: { accepts: ['int64', 'float64'], goKind: 'float64' },
}

function firstProblem<T>(items: Iterable<T>, check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item)
    if (problem) return problem
  }
  return undefined
}

function problemIn(value: Json, type: FieldType): string | undefined {
  if (value === null) return undefined
  switch (type.kind) {
    case 'struct': {
      if (!isJsonObject(value)) return `cannot restore struct from: ${goKind(value)}`
      const fields = Object.values(schema[type.name]?.fields ?? {})
      return firstProblem(fields, (field) => problemIn(ownField(value, field.name) ?? null, field.type))
    }
    case 'list':
      if (!Array.isArray(value)) return `cannot restore slice from ${goKind(value)}`
      return firstProblem(value, (item) => problemIn(item, type.of))
    case 'map':
      if (!isJsonObject(value)) return `cannot restore map from ${goKind(value)}`
      return firstProblem(Object.values(value), (item) => problemIn(item, type.of))
    default: {
      // Times, quantities and similar types have their own parsers with their own errors.
      const scalar = scalarKinds[type.kind]
      return scalar && !scalar.accepts.includes(goKind(value)) ? `unrecognized type: ${scalar.goKind}` : undefined
    }
  }
}

/**
 * The type errors of a strategically patched object, which Kubernetes words differently than those of a request body.
 */
export const restoreProblem = (patched: Json, typeName: string): string | undefined =>
  problemIn(patched, { kind: 'struct', name: typeName })
