import { describeField } from '../../api/schema/descriptions.ts'
import { badRequest } from '../../api/errors.ts'
import type { Scale } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import type { KubeObject } from '../../api/object.ts'
import { ageColumn, nameColumn } from './columns.ts'
import type { ListMeta, PartialObjectMetadata } from './partial-metadata.ts'
import { asPartialMetadata } from './partial-metadata.ts'
import type { Column, Tabular } from '../registry/resource.ts'

/** The part of each object that its row contains. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

interface ColumnDefinition {
  name: string
  type: string
  format: string
  description: string
  priority: number
}

interface TableRow {
  cells: (string | Int64 | boolean | null)[]
  conditions?: { type: string; status: string; reason?: string; message?: string }[]
  object: KubeObject | PartialObjectMetadata | null
}

/** The server-side output of `kubectl get`: columns, and one row an object. */
interface Table {
  kind: 'Table'
  apiVersion: string
  metadata: ListMeta
  columnDefinitions: ColumnDefinition[] | null
  rows: TableRow[] | null
}

interface TableOptions {
  /** Milliseconds since the epoch, for ages. */
  now: number
  /** The version of meta.k8s.io. */
  version: string
  includeObject: IncludeObject
  listMeta: ListMeta
  /** Includes column definitions. Default: true. */
  headers?: boolean
}

const defaultColumns: readonly Column<KubeObject>[] = [
  nameColumn(),
  {
    name: 'Created At',
    type: 'date',
    description: () => describeField('ObjectMeta', 'creationTimestamp'),
    cell: (obj) => obj.metadata.creationTimestamp ?? null,
  },
]

const scaleColumns: readonly Column<Scale>[] = [
  {
    name: 'Name',
    type: 'string',
    description: () => describeField('ObjectMeta', 'name'),
    cell: (scale) => scale.metadata.name ?? '',
  },
  {
    name: 'Desired',
    type: 'integer',
    description: () => describeField('ScaleSpec', 'replicas'),
    cell: (scale) => scale.spec?.replicas ?? 0,
  },
  {
    name: 'Available',
    type: 'integer',
    description: () => describeField('ScaleStatus', 'replicas'),
    cell: (scale) => scale.status?.replicas ?? 0,
  },
  ageColumn(),
]

/** The table of an autoscaling/v1 Scale. */
export const scaleTabular: Tabular = { columns: scaleColumns as unknown as readonly Column<KubeObject>[] }

// Descriptions are read from the schema for the first table of a kind.
const definitions = new WeakMap<readonly Column<KubeObject>[], ColumnDefinition[]>()

function definitionsOf(columns: readonly Column<KubeObject>[]): ColumnDefinition[] {
  let made = definitions.get(columns)
  if (!made) {
    made = columns.map((c) => ({
      name: c.name,
      type: c.type,
      format: c.format ?? '',
      description: typeof c.description === 'string' ? c.description : c.description(),
      priority: c.priority ?? 0,
    }))
    definitions.set(columns, made)
  }
  return made
}

function rowObject(obj: KubeObject, { includeObject, version }: TableOptions) {
  switch (includeObject) {
    case 'None':
      return null
    case 'Metadata':
      return asPartialMetadata(obj, version)
    case 'Object':
      return obj
  }
}

function row(
  tabular: Tabular,
  columns: readonly Column<KubeObject>[],
  obj: KubeObject,
  options: TableOptions,
): TableRow {
  const cells: TableRow['cells'] = []
  for (const column of columns) cells.push(column.cell(obj, options.now))
  const conditions = tabular.rowConditions?.(obj)
  const object = rowObject(obj, options)
  return conditions?.length ? { cells, conditions, object } : { cells, object }
}

/** The rows of a table, generated on demand. */
export function* tableRows(tabular: Tabular, objects: Iterable<KubeObject>, options: TableOptions): Iterable<TableRow> {
  const columns = tabular.columns ?? defaultColumns
  const ordered = tabular.compareRows ? [...objects].sort(tabular.compareRows) : objects
  for (const obj of ordered) yield row(tabular, columns, obj, options)
}

/** Formats objects of one kind as a table. With 'Object', each must carry its apiVersion and kind. */
export function toTable(tabular: Tabular, objects: readonly KubeObject[], options: TableOptions): Table {
  const columns = tabular.columns ?? defaultColumns
  const rows = [...tableRows(tabular, objects, options)]
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: options.listMeta,
    columnDefinitions: (options.headers ?? true) ? definitionsOf(columns) : null,
    // In Kubernetes, an empty default table has null rows; a kind with its own columns has an empty list.
    rows: rows.length || tabular.columns ? rows : null,
  }
}

export const objectTable = (tabular: Tabular, obj: KubeObject, options: Omit<TableOptions, 'listMeta'>): Table =>
  toTable(tabular, [obj], { ...options, listMeta: { resourceVersion: obj.metadata.resourceVersion } })

/** Converts watch events into tables. Only the first contains column definitions. */
export function watchTables(tabular: Tabular, options: Omit<TableOptions, 'listMeta' | 'headers' | 'now'>) {
  let headers = true
  const once = () => {
    const first = headers
    headers = false
    return first
  }
  return {
    event: (obj: KubeObject, now: number) => objectTable(tabular, obj, { ...options, now, headers: once() }),
    /** A bookmark has only a resource version, so its table has no cells. */
    bookmark: (obj: KubeObject): Table => {
      const empty: Tabular = { columns: (tabular.columns ?? defaultColumns).map((c) => ({ ...c, cell: () => null })) }
      return objectTable(empty, obj, { ...options, now: 0, headers: once() })
    },
  }
}

/** Reads `includeObject` from the query; throws 400. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') || 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  const why = `Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`
  throw badRequest(`Unable to convert to Table as requested: includeObject: ${why}`)
}
