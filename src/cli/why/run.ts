import { timestamp } from '../../api/object.ts'
import { pods } from '../../client/index.ts'
import { CommandError, isUnknownPath, noResourceType } from '../../insight/failure.ts'
import { type Session, say } from '../session.ts'
import { type DocumentForm, writeDocument } from '../terminal/document.ts'
import { painted } from '../terminal/line.ts'
import type { WorkloadKind } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import { objectsNamed, parseNames } from '../workload/names.ts'
import { type Explanation, explainPod, explainWorkload, isPodKind } from '../../insight/workload/explanation.ts'
import { explanationLines } from './text.ts'

/** Reads a workload. A kind that is not served is reported as kubectl does. */
export async function readWorkload(
  { client, namespace }: Pick<Session, 'client' | 'namespace'>,
  kind: WorkloadKind,
  name: string,
): Promise<Workload> {
  try {
    return await client.get(kind.type, namespace, name)
  } catch (e) {
    throw isUnknownPath(e) ? noResourceType(kind.singular) : e
  }
}

async function explainNamed(session: Session, args: readonly string[]): Promise<Explanation[]> {
  const explained: Explanation[] = []
  for (const { kind: text, name } of parseNames(args)) {
    if (isPodKind(text) && name !== undefined) {
      explained.push(await explainPod(session, await session.client.get(pods, session.namespace, name)))
    } else {
      const [found] = await objectsNamed(session.client, name === undefined ? [text] : [`${text}/${name}`])
      explained.push(await explainWorkload(session, found!.kind, await readWorkload(session, found!.kind, found!.name)))
    }
  }
  return explained
}

/** Formats an explanation for programs. */
const documentOf = ({ kind, namespace, name, state, message, since, deadlineAtMs, causes, unread }: Explanation) => ({
  apiVersion: 'coxswain.dev/v1',
  kind: 'Explanation',
  workload: { kind, namespace, name: name.slice(name.indexOf('/') + 1) },
  state,
  message,
  ...(since ? { since } : {}),
  ...(deadlineAtMs === undefined ? {} : { deadline: timestamp(deadlineAtMs) }),
  causes: causes.map(({ what, weight, object, text, since: from, help, others, warning }) => ({
    cause: what,
    weight,
    object,
    text,
    ...(from ? { since: from } : {}),
    help,
    ...(others.length > 0 ? { others } : {}),
    ...(warning ? { lastWarning: warning } : {}),
  })),
  ...(unread.length > 0 ? { unread } : {}),
})

/** `coxswain why`: what workloads wait for. The exit code is that of the worst. */
export async function runWhy(
  session: Session,
  args: readonly string[],
  form: DocumentForm | undefined,
): Promise<number> {
  const { out, clock } = session
  if (args.length === 0) throw new CommandError('required resource not specified: KIND/NAME')
  const explained = await explainNamed(session, args)
  if (form) {
    const documents = explained.map(documentOf)
    await writeDocument(
      out,
      form,
      documents.length === 1
        ? documents[0]
        : { apiVersion: 'coxswain.dev/v1', kind: 'ExplanationList', items: documents },
    )
  } else {
    for (const [i, one] of explained.entries()) {
      if (i > 0) say(out, '')
      for (const line of explanationLines(one, clock.now())) say(out, painted(line, out.hasColour))
    }
  }
  return Math.max(...explained.map(({ exitCode }) => exitCode))
}
