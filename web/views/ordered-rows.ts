import { workloadColumns } from '../../src/dashboard/stream/columns.ts'
import { kindNames } from '../../src/insight/workload/said.ts'
import type { Mirror } from '../stream/mirror.ts'
import { type WorkloadRow, named } from '../stream/topics.ts'

/** A row of the list. */
export interface Shown extends WorkloadRow {
  id: number
  /** The lower-case text that a search matches. */
  searched: string
  /** The sort key: workloads that need attention first, then the order of `coxswain status`. */
  order: string
}

interface Entry {
  values: readonly (string | number)[]
  shown: Shown
}

/** Sorts numbers in names by value: web-2 before web-10. */
const natural = (text: string): string => text.replace(/\d+/g, (digits) => digits.padStart(12, '0'))
const kindOrder: readonly string[] = kindNames

function shownOf(id: number, values: readonly (string | number)[]): Shown {
  const row = named(workloadColumns, values)
  const place = (position: number) => String(position).padStart(2, '0')
  const order = [place(row.state), natural(row.namespace), place(kindOrder.indexOf(row.kind)), natural(row.name)].join(
    '\u0000',
  )
  return {
    ...row,
    id,
    searched: `${row.namespace}/${row.name} ${row.kind} ${row.reason} ${row.sentence}`.toLowerCase(),
    order,
  }
}

const byOrder = (a: Shown, b: Shown): number => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0)

/**
 * The workloads of a mirror in the order of the list. After a change only the changed rows are read and sorted again.
 */
export class OrderedRows {
  #known = new Map<number, Entry>()
  #rows: readonly Shown[] = []

  of({ rows }: Pick<Mirror, 'rows'>): readonly Shown[] {
    const known = new Map<number, Entry>()
    const changed: Shown[] = []
    for (const [id, values] of rows) {
      const before = this.#known.get(id)
      const entry = before?.values === values ? before : { values, shown: shownOf(id, values) }
      if (entry !== before) changed.push(entry.shown)
      known.set(id, entry)
    }
    const kept = this.#rows.filter((row) => known.get(row.id)?.shown === row)
    this.#known = known
    if (changed.length > 0 || kept.length < this.#rows.length) this.#rows = merged(kept, changed.sort(byOrder))
    return this.#rows
  }
}

/** The selected row of a list. Its place is where the selection goes on when the row is gone. */
export interface Selection {
  id: number
  place: number
}

/** Returns the place of the selected row; undefined if it is not in the list. */
export function placeOf(rows: readonly Shown[], selection: Selection | undefined): number | undefined {
  if (!selection) return undefined
  if (rows[selection.place]?.id === selection.id) return selection.place
  const place = rows.findIndex(({ id }) => id === selection.id)
  return place < 0 ? undefined : place
}

/** Selects the next or previous row. */
export function step(rows: readonly Shown[], selection: Selection | undefined, by: 1 | -1): Selection | undefined {
  const place = placeOf(rows, selection)
  // A row that is gone has left its place to the next one.
  const wanted = place !== undefined ? place + by : selection ? selection.place + Math.min(0, by) : 0
  const next = Math.max(0, Math.min(rows.length - 1, wanted))
  const row = rows[next]
  return row && { id: row.id, place: next }
}

/** Merges two sorted lists. */
function merged(a: readonly Shown[], b: readonly Shown[]): Shown[] {
  const all: Shown[] = []
  let at = 0
  for (const row of a) {
    while (at < b.length && byOrder(b[at]!, row) < 0) all.push(b[at++]!)
    all.push(row)
  }
  for (; at < b.length; at++) all.push(b[at]!)
  return all
}
