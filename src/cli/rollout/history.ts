import type { Int64 } from '../../api/numbers/int64.ts'
import { ageOf } from '../../api/printing/duration.ts'
import { CommandError, exitCodes } from '../../insight/failure.ts'
import { type Session, say } from '../session.ts'
import { type DocumentForm, writeDocument } from '../terminal/document.ts'
import { yamlText } from '../../insight/yaml-text.ts'
import { painted, tableLines } from '../terminal/line.ts'
import { readWorkload } from '../why/run.ts'
import { fullName } from '../../insight/workload/kinds.ts'
import { objectsNamed } from '../workload/names.ts'
import { type Revision, revisionsOf } from '../../insight/workload/revisions.ts'

export interface HistoryOptions {
  args: readonly string[]
  /** The revision; undefined for all. */
  revision: Int64 | undefined
  form: DocumentForm | undefined
}

const imagesOf = ({ template }: Revision): string =>
  (template.spec?.containers ?? []).map(({ image }) => image ?? '').join(',')

const documentOf = ({ number, name, createdAt, changeCause, template }: Revision) => ({
  revision: number,
  name,
  ...(createdAt ? { createdAt } : {}),
  ...(changeCause ? { changeCause } : {}),
  template,
})

/** `coxswain rollout history`: lists revisions of workloads, or shows the template of one revision. */
export async function runHistory(session: Session, { args, revision, form }: HistoryOptions): Promise<number> {
  const { out, clock } = session
  for (const { kind, name } of await objectsNamed(session.client, args)) {
    const revisions = await revisionsOf(session.client, kind, await readWorkload(session, kind, name))
    const chosen = revision ? revisions.find(({ number }) => number === revision) : undefined
    if (revision && !chosen) throw new CommandError('unable to find the specified revision')
    if (form)
      await writeDocument(
        out,
        form,
        chosen
          ? documentOf(chosen)
          : { apiVersion: 'coxswain.dev/v1', kind: 'RevisionList', items: revisions.map(documentOf) },
      )
    else if (chosen)
      say(
        out,
        `${fullName(kind, name)} with revision #${revision}\n` +
          `Pod Template:\n${indented(await yamlText(chosen.template))}`,
      )
    else if (revisions.length === 0) say(out, `${fullName(kind, name)}\nNo rollout history found.`)
    else {
      say(out, fullName(kind, name))
      const rows = revisions.map((one) => [
        String(one.number),
        one.createdAt ? ageOf(one.createdAt, clock.now()) : '-',
        imagesOf(one),
        one.changeCause ?? '<none>',
      ])
      const table = tableLines(
        ['REVISION', 'AGE', 'IMAGES', 'CHANGE-CAUSE'],
        rows.map((cells) => cells.map((text) => ({ text }))),
      )
      for (const line of table) say(out, painted(line, out.hasColour).trimEnd())
    }
  }
  return exitCodes.ok
}

const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
