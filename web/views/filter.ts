import { states } from '../../src/insight/workload/said.ts'
import type { Shown } from './ordered-rows.ts'

/** What the list is narrowed to. It stands in the address, so that it can be shared. */
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

/** `?q=web&state=Stuck`, or nothing. */
export function filterText(filter: Filter): string {
  const query = new URLSearchParams()
  for (const field of fields) if (filter[field]) query.set(names[field], filter[field])
  const text = query.toString()
  return text ? `?${text}` : ''
}

/**
 * Whether a workload is to be shown. Each word of the text must be found: `a=b` is a label, anything else part of a
 * name or reason.
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
