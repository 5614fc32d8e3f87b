import { describeField } from '../../api/schema/descriptions.ts'
import type { CustomResourceColumnDefinition } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import { type JsonPath, JsonPathError, parseJsonPath, textOfValue, valuesAt } from '../../api/json/json-path.ts'
import type { KubeObject } from '../../api/object.ts'
import { ageOf } from '../../api/printing/duration.ts'
import { nameColumn } from '../answers/columns.ts'
import type { Column } from '../registry/resource.ts'

type Cell = string | Int64 | boolean | null

function cellOf(type: string, value: unknown, now: number): Cell {
  switch (type) {
    case 'integer':
      if (typeof value === 'bigint') return value as Int64
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      if (typeof value !== 'string') return null
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : ageOf(value, now)
    default:
      return null
  }
}

function readPath(text: string): JsonPath | undefined {
  try {
    return parseJsonPath(text)
  } catch (e) {
    if (e instanceof JsonPathError) return undefined
    throw e
  }
}

function columnOf({
  name,
  type,
  format,
  description,
  priority,
  jsonPath,
}: CustomResourceColumnDefinition): Column<KubeObject> {
  const path = readPath(jsonPath)
  return {
    name,
    type: type as Column<KubeObject>['type'],
    ...(format ? { format } : {}),
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority: (priority ?? 0) as 0 | 1,
    cell(object, now) {
      const found = path ? valuesAt(object, path) : []
      if (found.length === 0 || found[0] === null) return null
      return type === 'string' ? found.map(textOfValue).join(' ') : cellOf(type, found[0], now)
    },
  }
}

const age: Column<KubeObject> = {
  name: 'Age',
  type: 'date',
  description: () => describeField('ObjectMeta', 'creationTimestamp'),
  cell: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now),
}

/** The columns of a kind: its name and the defined ones. Default: name and age. */
export const columnsOf = (
  own: readonly CustomResourceColumnDefinition[] | undefined,
): readonly Column<KubeObject>[] => [nameColumn(), ...(own?.length ? own.map(columnOf) : [age])]
