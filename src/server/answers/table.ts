import { describeField } from '../../api/docs.ts'
import { badRequest } from '../../api/errors.ts'
import type { Scale } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/int64.ts'
import type { KubeObject } from '../../api/object.ts'
import { ageColumn, nameColumn } from './columns.ts'
import type { ListMeta, PartialObjectMetadata } from './partial-metadata.ts'
import { asPartialMetadata } from './partial-metadata.ts'
import type { Column, Resource } from '../registry/resource.ts'

/** How much of each object comes with its row. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

export interface ColumnDefinition {
  name: string
  type: string
  format: string
  description: string
  priority: number
}

export interface TableRow {
  cells: (string | Int64 | boolean | null)[]
  conditions?: { type: string; status: string; reason?: string; message?: string }[]
  object: KubeObject | PartialObjectMetadata | null
}

/** What `kubectl get` shows: columns and one row an object. */
export interface Table {
  kind: 'Table'
  apiVersion: string
  metadata: ListMeta
  columnDefinitions: ColumnDefinition[] | null
  rows: TableRow[] | null
}

/** The part of a resource that a table needs. */
export type Tabular = Pick<Resource, 'columns' | 'compareRows' | 'rowConditions'>

export interface TableOptions {
  /** Milliseconds since the epoch, for ages. */
  now: number
  /** Of meta.k8s.io. */
  version: string
  includeObject: IncludeObject
  listMeta: ListMeta
  /** Default: true. */
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
  { name: 'Name', type: 'string', description: () => describeField('ObjectMeta', 'name'), cell: (scale) => scale.metadata.name ?? '' },
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

/** The table of an autoscaling/v1 Scale, of whatever kind it is the scale. */
export const scaleTabular: Tabular = { columns: scaleColumns as unknown as readonly Column<KubeObject>[] }

// Descriptions are read from the schema when the first table of a kind is asked for.
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
    case 'None': return null
    case 'Metadata': return asPartialMetadata(obj, version)
    case 'Object': return obj
  }
}

function row(tabular: Tabular, columns: readonly Column<KubeObject>[], obj: KubeObject, options: TableOptions): TableRow {
  const cells: TableRow['cells'] = []
  for (const column of columns) cells.push(column.cell(obj, options.now))
  const conditions = tabular.rowConditions?.(obj)
  const object = rowObject(obj, options)
  return conditions?.length ? { cells, conditions, object } : { cells, object }
}

/** The rows of a table, each made when it is looked at. */
export function* tableRows(tabular: Tabular, objects: Iterable<KubeObject>, options: TableOptions): Iterable<TableRow> {
  const columns = tabular.columns ?? defaultColumns
  const ordered = tabular.compareRows ? [...objects].sort(tabular.compareRows) : objects
  for (const obj of ordered) yield row(tabular, columns, obj, options)
}

/** Objects of one kind as a table. With 'Object', each must carry its apiVersion and kind. */
export function toTable(tabular: Tabular, objects: readonly KubeObject[], options: TableOptions): Table {
  const columns = tabular.columns ?? defaultColumns
  const rows = [...tableRows(tabular, objects, options)]
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: options.listMeta,
    columnDefinitions: (options.headers ?? true) ? definitionsOf(columns) : null,
    // Kubernetes' default table has no list at all where there is no row; those of kinds with columns of their own have an empty one.
    rows: rows.length || tabular.columns ? rows : null,
  }
}

/** The table of one object. */
export const objectTable = (tabular: Tabular, obj: KubeObject, options: Omit<TableOptions, 'listMeta'>): Table =>
  toTable(tabular, [obj], { ...options, listMeta: { resourceVersion: obj.metadata.resourceVersion } })

/** Turns the objects of a watch's events into tables, of which only the first has columns. */
export function watchTables(tabular: Tabular, options: Omit<TableOptions, 'listMeta' | 'headers' | 'now'>) {
  let headers = true
  const once = () => {
    const first = headers
    headers = false
    return first
  }
  return {
    event: (obj: KubeObject, now: number) => objectTable(tabular, obj, { ...options, now, headers: once() }),
    /** A bookmark has nothing but a resource version, so that there is nothing to fill cells from. */
    bookmark: (obj: KubeObject): Table => {
      const empty: Tabular = { columns: (tabular.columns ?? defaultColumns).map((c) => ({ ...c, cell: () => null })) }
      return objectTable(empty, obj, { ...options, now: 0, headers: once() })
    },
  }
}

/** What the query wants with each row; throws 400. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') || 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  const why = `Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`
  throw badRequest(`Unable to convert to Table as requested: includeObject: ${why}`)
}
