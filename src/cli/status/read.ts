import { labelSelectorMatches } from '../../api/selectors/label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import { type ResourceType, pods, replicasets } from '../../client/index.ts'
import { CommandError, isUnknownPath, noResourceType } from '../../insight/failure.ts'
import type { Session } from '../session.ts'
import { causesOf, withProgram } from '../../insight/workload/explained.ts'
import { gather } from '../../insight/workload/gather.ts'
import { type Source, askingSource } from '../../insight/workload/own-pods.ts'
import { type WorkloadKind, workloadKinds } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import { type Named, workloadsNamed } from '../workload/names.ts'
import { standingWith } from '../../insight/workload/standing.ts'
import { Reader, mapSome } from '../../insight/workload/reader.ts'
import { type Row, byAttention, isOwned, needsExplanation, rowOf } from '../../insight/workload/row.ts'

/** The options of `coxswain status`. */
export interface StatusOptions {
  args: readonly string[]
  allNamespaces: boolean
  selector?: string | undefined
  /** Include workloads owned by other workloads. */
  showOwned: boolean
}

export interface StatusReport {
  rows: Row[]
  /** Kinds that could not be read. */
  unread: string[]
}

/** The workloads to list: whole kinds, or single ones by name. */
export interface Wanted {
  named: Named<WorkloadKind>[]
  /** True if the command line named them: they must then exist. */
  isAsked: boolean
  namespace: string
  selector: string | undefined
  showOwned: boolean
}

export async function wantedOf(
  { client, namespace }: Session,
  { args, allNamespaces, selector, showOwned }: StatusOptions,
): Promise<Wanted> {
  const isAsked = args.length > 0
  const named = isAsked ? await workloadsNamed(client, args) : workloadKinds.map((kind) => ({ kind, name: undefined }))
  const names = named.filter(({ name }) => name !== undefined)
  if (names.length > 0 && allNamespaces)
    throw new CommandError('a resource cannot be retrieved by name across all namespaces')
  if (names.length > 0 && selector) throw new CommandError('name cannot be provided when a selector is specified')
  return { named, isAsked, namespace: allNamespaces ? '' : namespace, selector, showOwned: showOwned || isAsked }
}

/** The workloads, and the readable kinds among the requested ones. */
export interface FoundWorkloads {
  found: { kind: WorkloadKind; object: Workload }[]
  readable: Named<WorkloadKind>[]
}

/** Reads workloads. Kinds that were not requested explicitly may be missing or forbidden, but not all of them. */
export async function readWorkloads(session: Session, reader: Reader, wanted: Wanted): Promise<FoundWorkloads> {
  const { named, isAsked, namespace, selector } = wanted
  const answers = await mapSome(named, async ({ kind, name }): Promise<Workload[] | undefined> => {
    if (name !== undefined) return [await asked(kind, session.client.get(kind.type, namespace, name))]
    if (isAsked) return listed(kind, session, namespace, selector)
    const selection = selector ? { labelSelector: selector } : {}
    return kind.ownedBy && !wanted.showOwned
      ? freeOnes(reader, kind, namespace, selection)
      : reader.list(kind.type, namespace, selection)
  })
  const readable = named.filter((_, i) => answers[i] !== undefined)
  if (readable.length === 0) throw new CommandError(`no workloads can be read: ${reader.unread.join(', ')}`)
  return {
    found: answers.flatMap((objects, i) => (objects ?? []).map((object) => ({ kind: named[i]!.kind, object }))),
    readable,
  }
}

/**
 * Returns workloads without an owner. Most ReplicaSets and many Jobs have one: their metadata shows that, so the rest
 * of them is not read.
 */
async function freeOnes(
  reader: Reader,
  kind: WorkloadKind,
  namespace: string,
  selection: { labelSelector?: string },
): Promise<Workload[] | undefined> {
  const all = await reader.list(kind.type, namespace, { ...selection, metadataOnly: true })
  const free = all?.filter((object) => !isOwned({ kind, object }))
  if (!free || free.length > singleReads) return free && reader.list(kind.type, namespace, selection)
  const found = await mapSome(free, ({ metadata }) =>
    reader.find(kind.type, metadata.namespace ?? '', metadata.name ?? ''),
  )
  return found.flatMap((lookup) => (lookup.kind === 'found' ? [lookup.object] : []))
}

async function listed(
  kind: WorkloadKind,
  { client }: Session,
  namespace: string,
  selector: string | undefined,
): Promise<Workload[]> {
  const all: Workload[] = []
  const pages = client.listAll(kind.type, namespace, {
    allowInconsistent: true,
    ...(selector ? { labelSelector: selector } : {}),
  })
  await asked(
    kind,
    (async () => {
      for await (const page of pages) all.push(...page.items)
    })(),
  )
  return all
}

const asked = <T>(kind: WorkloadKind, answer: Promise<T>): Promise<T> =>
  answer.catch((e: unknown) => {
    throw isUnknownPath(e) ? noResourceType(kind.singular) : e
  })

/** Above this number, workloads are read by one list instead of single requests. */
const singleReads = 10

/** Reads the content of the table. */
export async function readStatus(session: Session, options: StatusOptions): Promise<StatusReport> {
  // Workloads of a namespace share budgets, and many share nodes: each is read once.
  const reader = new Reader(session.client, { clock: session.clock, maxAgeMs: Infinity })
  const wanted = await wantedOf(session, options)
  const { found } = await readWorkloads(session, reader, wanted)
  const rows = found
    .filter((one) => wanted.showOwned || !isOwned(one))
    .map(({ kind, object }) => rowOf(kind, object, session.clock.now()))
  const late = rows.filter(needsExplanation).length
  const source = late > singleReads ? wholeSource(reader, wanted.namespace) : askingSource(reader)
  const explained = await explainRows(session, reader, source, rows)
  return { rows: explained.toSorted(byAttention), unread: reader.unread }
}

/** Adds causes to the rows that need them. */
export const explainRows = (session: Session, reader: Reader, source: Source, rows: readonly Row[]): Promise<Row[]> =>
  mapSome(rows, async (row) => {
    if (!needsExplanation(row)) return row
    const around = await gather(reader, source, row.kind, row.object)
    const causes = withProgram(causesOf(row.kind, row.object, around, session.clock.now()), session.program)
    return { ...standingWith(row, causes), causes }
  })

/** Reads the namespace once, and filters locally. */
function wholeSource(reader: Reader, namespace: string): Source {
  const reading = new Map<string, Promise<KubeObject[] | undefined>>()
  const pick = async <T extends KubeObject>(
    type: ResourceType<T>,
    of: string,
    selector: Parameters<Source['pods']>[1],
  ): Promise<T[] | undefined> => {
    let all = reading.get(type.plural)
    if (!all) reading.set(type.plural, (all = reader.list(type, namespace)))
    return ((await all) as T[] | undefined)?.filter(
      ({ metadata }) => metadata.namespace === of && labelSelectorMatches(selector, metadata.labels),
    )
  }
  return {
    pods: (of, selector) => pick(pods, of, selector),
    replicaSets: (of, selector) => pick(replicasets, of, selector),
  }
}

/** Formats the kinds that could not be read, for stderr. Empty if there are none. */
export const unreadText = (unread: readonly string[]): string =>
  unread.length > 0 ? `Could not be read: ${unread.join(', ')}.` : ''
