import { type Informer, keyOf } from '../../client/index.ts'
import { type Session, say } from '../session.ts'
import { yamlText } from '../../insight/yaml-text.ts'
import type { DocumentForm } from '../terminal/document.ts'
import { type Line, lineOf, textOf } from '../terminal/line.ts'
import { LiveView } from '../terminal/live.ts'
import { Bell, Watches, checkUntil, watchedSource } from '../workload/follow.ts'
import { type WorkloadKind, fullName } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import { Reader } from '../../insight/workload/reader.ts'
import { type StatusOptions, explainRows, readWorkloads, unreadText, wantedOf } from './read.ts'
import { type Row, byAttention, isOwned, needsExplanation, rowOf } from '../../insight/workload/row.ts'
import { cellsOf, documentOf, statusTable, titles } from './row.ts'

/** Refresh interval of ages. */
const tickMs = 1000
/** Lifetime of cached nodes, claims and budgets. */
const memoryMs = 3000

/** Time after which the table appears even without permission to watch pods. */
const patienceMs = 3000

interface Followed {
  kind: WorkloadKind
  informer: Informer<Workload>
}

/**
 * `coxswain status -w`: redraws the table after each change, until Ctrl-C. To a file or pipe it writes one line per
 * change.
 */
export async function watchStatus(
  session: Session,
  options: StatusOptions & { form: DocumentForm | 'name' | undefined },
): Promise<number> {
  const reader = new Reader(session.client, { clock: session.clock, maxAgeMs: memoryMs })
  const wanted = await wantedOf(session, options)
  // The first read reports errors immediately and finds the kinds that can be watched.
  const { readable } = await readWorkloads(session, reader, wanted)
  const bell = new Bell()
  const watches = new Watches(session, bell)
  const scope = { namespace: wanted.namespace }
  try {
    const followed = readable.map(({ kind, name }): Followed => {
      const all = wanted.selector ? { labelSelector: wanted.selector } : {}
      const which = name === undefined ? all : { fieldSelector: `metadata.name=${name}` }
      return { kind, informer: watches.follow(kind.type, { ...scope, ...which }) }
    })
    const source = watchedSource(watches, scope)
    await watches.synced(patienceMs)
    const view = session.out.isTerminal && !options.form ? liveTable(session, options) : plainChanges(session, options)
    try {
      let known: readonly Row[] = []
      return await checkUntil<number>(
        session,
        bell,
        () => tickMs,
        async () => {
          const rows = currentRows(followed, wanted.showOwned, session.clock.now(), known)
          known = await explainRows(session, reader, source, rows)
          await view.show(known.toSorted(byAttention), reader.unread)
          return undefined
        },
      )
    } finally {
      view.close()
    }
  } finally {
    watches.stop()
  }
}

function currentRows(followed: readonly Followed[], showOwned: boolean, nowMs: number, known: readonly Row[]): Row[] {
  const causes = new Map(known.map((row) => [rowKey(row), row.causes]))
  return followed
    .flatMap(({ kind, informer }) =>
      informer.list().map((object) => rowOf(kind, object, nowMs, causes.get(rowKey({ kind, object })))),
    )
    .filter((row) => showOwned || !isOwned(row))
    .map((row) => (needsExplanation(row) ? row : { ...row, causes: [] }))
}

const rowKey = ({ kind, object }: Pick<Row, 'kind' | 'object'>): string => `${kind.kind} ${keyOf(object)}`

interface View {
  show(rows: readonly Row[], unread: readonly string[]): Promise<void>
  close(): void
}

function liveTable({ out, clock, namespace }: Session, { allNamespaces }: StatusOptions): View {
  const live = new LiveView(out)
  return {
    async show(rows, unread) {
      const none: Line[] = [
        lineOf(allNamespaces ? 'No resources found' : `No resources found in ${namespace} namespace.`),
      ]
      const lines = rows.length === 0 ? none : statusTable(rows, allNamespaces, clock.now(), out.columns)
      live.draw(unread.length > 0 ? [...lines, lineOf(unreadText(unread), 'dim')] : lines)
    },
    close: () => live.close(),
  }
}

/** Columns that change without an event. */
const timeColumns = ['SINCE', 'DEADLINE']

/** Prints each changed row; ages do not count as changes. */
function plainChanges(
  { out, clock }: Session,
  { allNamespaces, form }: StatusOptions & { form: DocumentForm | 'name' | undefined },
): View {
  let told = new Map<string, string>()
  let hasHeader = false
  return {
    async show(rows) {
      const nowMs = clock.now()
      const gists = new Map(rows.map((row) => [rowKey(row), gistOf(row, nowMs)]))
      const changed = rows.filter((row) => told.get(rowKey(row)) !== gists.get(rowKey(row)))
      const gone = [...told.keys()].filter((key) => !gists.has(key))
      told = gists
      if (form === 'name') for (const { kind, object } of changed) say(out, fullName(kind, object.metadata.name ?? ''))
      else if (form === 'json') for (const row of changed) say(out, JSON.stringify(documentOf(row)))
      else if (form === 'yaml')
        for (const row of changed) say(out, `---\n${(await yamlText(documentOf(row))).trimEnd()}`)
      else {
        const lines = changed.length > 0 ? statusTable(changed, allNamespaces, nowMs) : []
        for (const line of hasHeader ? lines.slice(1) : lines) say(out, textOf(line).trimEnd())
        for (const key of gone) say(out, `${key} is gone`)
        hasHeader ||= lines.length > 0
      }
    },
    close: () => {},
  }
}

const gistOf = (row: Row, nowMs: number): string =>
  JSON.stringify(
    cellsOf(row, nowMs)
      .filter((_, i) => !timeColumns.includes(titles[i]!))
      .map(({ text }) => text),
  )
