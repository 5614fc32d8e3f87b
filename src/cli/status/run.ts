import { type Session, say } from '../session.ts'
import { type DocumentForm, writeDocument } from '../terminal/document.ts'
import { cutLine, painted } from '../terminal/line.ts'
import { fullName } from '../../insight/workload/kinds.ts'
import { type StatusOptions, type StatusReport, readStatus, unreadText } from './read.ts'
import { documentOf, statusTable } from './row.ts'

export type StatusForm = DocumentForm | 'name'

/** `coxswain status`: all workloads in one table. */
export async function runStatus(
  session: Session,
  options: StatusOptions & { form: StatusForm | undefined; watch: boolean },
): Promise<number> {
  if (options.watch) {
    const { watchStatus } = await import('./watch.ts')
    return watchStatus(session, options)
  }
  await print(session, await readStatus(session, options), options)
  return 0
}

async function print(
  { out, err, clock, namespace }: Session,
  { rows, unread }: StatusReport,
  { form, allNamespaces }: { form: StatusForm | undefined; allNamespaces: boolean },
): Promise<void> {
  if (form === 'name') for (const { kind, object } of rows) say(out, fullName(kind, object.metadata.name ?? ''))
  else if (form)
    await writeDocument(out, form, {
      apiVersion: 'coxswain.dev/v1',
      kind: 'WorkloadStatusList',
      items: rows.map(documentOf),
      ...(unread.length > 0 ? { unread } : {}),
    })
  else if (rows.length === 0)
    say(err, allNamespaces ? 'No resources found' : `No resources found in ${namespace} namespace.`)
  else {
    const width = out.isTerminal ? out.columns : Infinity
    for (const line of statusTable(rows, allNamespaces, clock.now(), width))
      say(out, painted(cutLine(line, width), out.hasColour).trimEnd())
  }
  if (unread.length > 0 && form !== 'json' && form !== 'yaml') say(err, unreadText(unread))
}
