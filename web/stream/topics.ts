import { nodeColumns, podColumns, workloadColumns } from '../../src/dashboard/stream/columns.ts'
import type { ColumnType } from '../../src/dashboard/stream/table.ts'

type Columns = Readonly<Record<string, ColumnType>>

/** A row as an object with the columns' names. */
export type RowOf<C extends Columns> = { [name in keyof C]: C[name] extends 'number' ? number : string }

export type WorkloadRow = RowOf<typeof workloadColumns>
export type NodeRow = RowOf<typeof nodeColumns>

/** The columns of a topic by its name: `workloads`, `nodes`, `pods Deployment default/web`. */
export function columnsOf(topic: string): Columns {
  if (topic === 'workloads') return workloadColumns
  return topic === 'nodes' ? nodeColumns : podColumns
}

/** Converts the values of a row to an object. */
export function named<C extends Columns>(columns: C, values: readonly (string | number)[]): RowOf<C> {
  const row: Record<string, string | number> = {}
  let at = 0
  for (const name in columns) row[name] = values[at++]!
  return row as RowOf<C>
}
