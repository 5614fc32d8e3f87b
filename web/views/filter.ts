import { states } from '../../src/insight/workload/said.ts'
import type { Shown } from './ordered-rows.ts'

/** The filter of the list. It is part of the address, so that it can be shared. */
export interface Filter {
  text: string
  namespace: string
  kind: string
  state: string
}

export const emptyFilter: Filter = { text: '', namespace: '', kind: '', state: '' }

const names = { text: 'q', namespace: 'namespace', kind: 'kind', state: 'state' } as const
const fields = Object.keys(names) as (keyof Filter)[]

export const filterIn = (query: URLSearchParams): Filter =>
  Object.fromEntries(fields.map((field) => [field, query.get(names[field]) ?? ''])) as unknown as Filter

/** Formats a filter as a query: `?q=web&state=Stuck`, or an empty text. */
export function filterText(filter: Filter): string {
  const query = new URLSearchParams()
  for (const field of fields) if (filter[field]) query.set(names[field], filter[field])
  const text = query.toString()
  return text ? `?${text}` : ''
}

/**
 * True if a workload matches the filter. All words of the text must match: `a=b` matches a label, any other word a part
 * of a name or reason.
 */
export function matches({ text, namespace, kind, state }: Filter, row: Shown): boolean {
  if (
    (namespace && row.namespace !== namespace) ||
    (kind && row.kind !== kind) ||
    (state && states[row.state] !== state)
  )
    return false
  if (!text) return true
  const labels = `,${row.labels.toLowerCase()},`
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => (/^[^=]+=[^=]+$/.test(word) ? labels.includes(`,${word},`) : row.searched.includes(word)))
}
