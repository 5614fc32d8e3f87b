import { ageOf, humanDuration } from '../../api/printing/duration.ts'
import { timestamp } from '../../api/object.ts'
import { type Line, type Span, oneLine, tableLines, textOf, widthOf } from '../terminal/line.ts'
import { isInTheWay } from '../../insight/workload/explained.ts'
import { shortName } from '../../insight/workload/kinds.ts'
import type { Row } from '../../insight/workload/row.ts'
import { stateTones } from '../../insight/workload/said.ts'

/** The first cause as a sentence, without its time, which has its own column. */
function reasonText({ state, message, causes }: Row): string {
  const cause = causes.find(isInTheWay)
  if (cause) return oneLine(`${cause.object.kind} ${cause.object.name} ${cause.text}`)
  return state === 'Available' ? '' : oneLine(message)
}

export const titles = ['WORKLOAD', 'STATE', 'READY', 'UP-TO-DATE', 'SINCE', 'DEADLINE', 'REASON']

/** The cells of a row under `titles`. */
export function cellsOf(row: Row, nowMs: number): Span[] {
  const {
    kind,
    object,
    state,
    numbers: { ready, desired, current, updated },
    deadlineAtMs,
    causes,
  } = row
  const isOver = kind.kind === 'Job' && (state === 'Complete' || state === 'Failed')
  const wanted = kind.kind === 'Job' ? Math.max(desired, current) : desired
  const since = causes.find(isInTheWay)?.since ?? row.since
  const left = deadlineAtMs === undefined ? '' : deadlineAtMs > nowMs ? humanDuration(deadlineAtMs - nowMs) : 'passed'
  return [
    { text: shortName(kind, object) },
    { text: state, tone: stateTones[state] },
    { text: isOver || kind.kind === 'CronJob' ? '-' : `${ready}/${wanted}` },
    { text: updated === undefined ? '-' : String(updated) },
    { text: since ? ageOf(since, nowMs) : '-' },
    { text: left || '-' },
    { text: reasonText(row) },
  ]
}

/** The columns that a narrow terminal omits to make room for the reason, the least important first. */
const spareTitles = ['UP-TO-DATE', 'DEADLINE', 'SINCE']
/** The minimum width of the reason. */
const reasonWidth = 40

/**
 * The table of all rows, with a namespace column if they are in several namespaces. `width` is that of the terminal. If
 * the remaining width is too small for a reason, less important columns are omitted.
 */
export function statusTable(rows: readonly Row[], hasNamespaces: boolean, nowMs: number, width = Infinity): Line[] {
  let heads = hasNamespaces ? ['NAMESPACE', ...titles] : titles
  let cells = rows.map((row) =>
    hasNamespaces ? [{ text: row.object.metadata.namespace ?? '' }, ...cellsOf(row, nowMs)] : cellsOf(row, nowMs),
  )
  const longest = Math.max(0, ...cells.map((row) => widthOf(row.at(-1)!.text)))
  for (const spare of spareTitles) {
    const before = widthOf(textOf(tableLines(heads, cells)[0]!)) - widthOf(heads.at(-1)!)
    if (width - before >= Math.min(longest, reasonWidth)) break
    const at = heads.indexOf(spare)
    heads = heads.toSpliced(at, 1)
    cells = cells.map((row) => row.toSpliced(at, 1))
  }
  return tableLines(heads, cells)
}

/** A row as JSON. */
export function documentOf({ kind, object, state, reason, message, since, deadlineAtMs, numbers, causes }: Row) {
  const { namespace = '', name = '' } = object.metadata
  return {
    workload: { kind: kind.kind, namespace, name },
    state,
    reason,
    message,
    ...(since ? { since } : {}),
    ...(deadlineAtMs === undefined ? {} : { deadline: timestamp(deadlineAtMs) }),
    replicas: numbers,
    causes: causes.map(({ what, weight, object: about, text, since: from, help }) => ({
      cause: what,
      weight,
      object: about,
      text,
      ...(from ? { since: from } : {}),
      help,
    })),
  }
}
