import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { humanDuration } from '../../src/api/printing/duration.ts'
import { Failure, Notice, StateChip, age, kindNames, plural, states, toneOf } from '../parts/words.tsx'
import { go, workloadPath } from '../router.ts'
import type { WorkloadRow } from '../stream/topics.ts'
import { useNow, useTopic } from '../use.ts'
import { type Filter, emptyFilter, filterIn, filterText, matches } from './filter.ts'
import { OrderedRows, type Selection, type Shown, placeOf, step } from './ordered-rows.ts'

/**
 * The height of a row: on a phone the reason is on a line of its own. All rows have the same height, so that 10,000 of
 * them need no measuring.
 */
const heights = { wide: 46, narrow: 70 } as const
const narrow = matchMedia('(max-width: 900px)')
/** The number of rows rendered above and below the visible ones. */
const spareRows = 8

const collator = new Intl.Collator('en', { numeric: true })

/** All workloads in one list. */
export function ListView({ query }: { query: URLSearchParams }) {
  const topic = useTopic('workloads', 250)
  const now = useNow()
  const filter = filterIn(query)
  const set = (next: Partial<Filter>) => go(`/${filterText({ ...filter, ...next })}`, { replace: true })
  const { mirror } = topic
  const ordered = useMemo(() => new OrderedRows(), [mirror])
  const all = useMemo(() => ordered.of(mirror), [mirror, mirror.version])
  const shown = useMemo(() => all.filter((row) => matches(filter, row)), [all, filterText(filter)])
  if (topic.error) return <Failure code={topic.error.code} error={topic.error.message} what="workloads" />
  return (
    <>
      <Counts all={all} filter={filter} set={set} />
      <Filters all={all} filter={filter} set={set} shown={shown.length} />
      {!mirror.isWhole ? (
        <p class="wait" role="status">
          Reading workloads …
        </p>
      ) : shown.length === 0 ? (
        <Nothing hasAny={all.length > 0} clear={() => set(emptyFilter)} />
      ) : (
        <Rows rows={shown} now={now} />
      )}
    </>
  )
}

const Nothing = ({ hasAny, clear }: { hasAny: boolean; clear(): void }) =>
  hasAny ? (
    <Notice title="No workload matches the filter">
      <p>
        <button onClick={clear}>Clear the filter</button>
      </p>
    </Notice>
  ) : (
    <Notice title="There are no workloads yet">
      <p>Create one, and it appears here:</p>
      <pre>kubectl create deployment web --image=nginx --replicas=3</pre>
    </Notice>
  )

type FilterProps = { all: readonly Shown[]; filter: Filter; set(next: Partial<Filter>): void }

/** The number of workloads in each state. A click filters by the state. */
function Counts({ all, filter, set }: FilterProps) {
  const counts = new Map<string, number>()
  for (const { state } of all) counts.set(states[state]!, (counts.get(states[state]!) ?? 0) + 1)
  return (
    <div class="counts" role="group" aria-label="States">
      {states
        .filter((state) => counts.has(state))
        .map((state) => (
          <button
            key={state}
            aria-pressed={filter.state === state}
            onClick={() => set({ state: filter.state === state ? '' : state })}
          >
            <b>{counts.get(state)!.toLocaleString('en')}</b> <StateChip state={state} />
          </button>
        ))}
    </div>
  )
}

function Filters({ all, filter, set, shown }: FilterProps & { shown: number }) {
  const namespaces = useMemo(() => [...new Set(all.map(({ namespace }) => namespace))].sort(collator.compare), [all])
  const select = (name: 'namespace' | 'kind', label: string, values: readonly string[]) => (
    <select aria-label={label} value={filter[name]} onChange={(e) => set({ [name]: e.currentTarget.value })}>
      <option value="">{label}: all</option>
      {values.map((value) => (
        <option key={value} value={value}>
          {value}
        </option>
      ))}
    </select>
  )
  return (
    <div class="filters" role="search">
      <input
        id="search"
        type="search"
        placeholder="Search name, reason, or label=value   ( / )"
        aria-label="Search workloads"
        value={filter.text}
        onInput={(e) => set({ text: e.currentTarget.value })}
      />
      {select('namespace', 'Namespace', namespaces)}
      {select('kind', 'Kind', kindNames)}
      <span class="dim" role="status">
        {shown === all.length
          ? plural(all.length, 'workload')
          : `${shown.toLocaleString('en')} of ${plural(all.length, 'workload')}`}
      </span>
    </div>
  )
}

function Rows({ rows, now }: { rows: readonly Shown[]; now: number }) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  const rowHeight = narrow.matches ? heights.narrow : heights.wide
  const [selected, select] = useState<Selection | undefined>(undefined)
  // Keys may arrive faster than the list is rendered.
  const latest = useRef({ rows, selected })
  latest.current.rows = rows
  useEffect(() => {
    const look = () => {
      const top = box.current ? Math.max(0, -box.current.getBoundingClientRect().top) : 0
      setView((old) =>
        Math.abs(old.top - top) < rowHeight / 2 && old.height === innerHeight ? old : { top, height: innerHeight },
      )
    }
    look()
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [])
  // Before the rows are visible, so that no key is lost.
  useLayoutEffect(() => {
    const key = (e: KeyboardEvent) => {
      if ((e.target as Element).matches('input, select, textarea, dialog *') || e.metaKey || e.ctrlKey) return
      const by = e.key === 'j' || e.key === 'ArrowDown' ? 1 : e.key === 'k' || e.key === 'ArrowUp' ? -1 : 0
      const { current } = latest
      const row = current.rows[placeOf(current.rows, current.selected) ?? -1]
      if (e.key === 'Enter' && row && !(e.target as Element).matches('a, button'))
        go(workloadPath(row.kind, row.namespace, row.name))
      if (by === 0) return
      e.preventDefault()
      current.selected = step(current.rows, current.selected, by)
      select(current.selected)
      const top = (box.current?.getBoundingClientRect().top ?? 0) + (current.selected?.place ?? 0) * rowHeight
      if (top < 120) scrollBy(0, top - 120)
      else if (top > innerHeight - 80) scrollBy(0, top - innerHeight + 80)
    }
    addEventListener('keydown', key)
    return () => removeEventListener('keydown', key)
  }, [])
  const first = Math.max(0, Math.floor(view.top / rowHeight) - spareRows)
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + spareRows)
  return (
    <div class="table" role="table" aria-label="Workloads" aria-rowcount={rows.length}>
      <div class="row head" role="row">
        {['Workload', 'State', 'Pods', 'Since', 'Deadline', 'Reason'].map((title) => (
          <span key={title} role="columnheader">
            {title}
          </span>
        ))}
      </div>
      <div ref={box} class="rows" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, i) => (
          <Line
            key={row.id}
            row={row}
            now={now}
            at={first + i}
            top={(first + i) * rowHeight}
            isSelected={row.id === selected?.id}
          />
        ))}
      </div>
    </div>
  )
}

function Line({
  row,
  now,
  at,
  top,
  isSelected,
}: {
  row: Shown
  now: number
  at: number
  top: number
  isSelected: boolean
}) {
  const state = states[row.state]!
  return (
    <a
      class={`row ${isSelected ? 'selected' : ''}`}
      role="row"
      aria-rowindex={at + 1}
      aria-selected={isSelected}
      href={workloadPath(row.kind, row.namespace, row.name)}
      style={{ top: `${top}px` }}
    >
      <span role="cell" class="name">
        <b>{row.name}</b>
        <small>
          {row.namespace} · {row.kind}
        </small>
      </span>
      <span role="cell">
        <StateChip state={state} />
      </span>
      <span role="cell" class="pods">
        <Bar row={row} />
      </span>
      <span role="cell" class="dim">
        {age(row.since * 1000, now)}
      </span>
      <span role="cell" class="dim">
        {row.deadline > 0
          ? row.deadline * 1000 > now
            ? `${humanDuration(row.deadline * 1000 - now)} left`
            : 'passed'
          : ''}
      </span>
      <span role="cell" class="reason" title={row.sentence}>
        {row.sentence || (toneOf(state) === 'good' ? '' : row.reason)}
      </span>
    </a>
  )
}

/** The pods of the new revision, by readiness, and those of the old one. */
export function Bar({ row }: { row: Pick<WorkloadRow, 'kind' | 'desired' | 'current' | 'updated' | 'ready'> }) {
  const { kind, desired, current, updated, ready } = row
  if (kind === 'CronJob') return <span class="dim">{current > 0 ? plural(current, 'job') : ''}</span>
  const total = Math.max(desired, current, 1)
  const fresh = updated < 0 ? current : Math.min(updated, current)
  const old = current - fresh
  // Most pods of the old revision are ready, because unready ones are replaced first.
  const readyNew = Math.min(fresh, Math.max(0, ready - old))
  const share = (part: number) => ({ width: `${(100 * part) / total}%` })
  const label = `${ready} of ${desired} ready${updated < 0 ? '' : `, ${fresh} new, ${old} old`}`
  return (
    <span class="bar" role="img" aria-label={label} title={label}>
      <span class="track">
        <i style={share(readyNew)} />
        <i class="unready" style={share(fresh - readyNew)} />
        <i class="old" style={share(old)} />
      </span>
      <small>
        {ready}/{desired}
      </small>
    </span>
  )
}
