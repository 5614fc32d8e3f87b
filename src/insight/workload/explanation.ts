import { type Cause, causeOfPod } from '../../api/explain/index.ts'
import type { Node, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { claimNamesOf } from '../../api/kinds/volumes/volume-references.ts'
import { summarizePod } from '../../api/kinds/pods/pod-summary.ts'
import { type Client, clonesets, controllerOf, nodes, persistentvolumeclaims } from '../../client/index.ts'
import { exitCodes } from '../failure.ts'
import type { Clock } from '../../base/clock.ts'
import {
  type GroupedCause,
  type Warning,
  causesOf,
  exitCodeFor,
  grouped,
  warningOf,
  withProgram,
  withWarning,
} from './explained.ts'
import { gather } from './gather.ts'
import { type Source, askingSource } from './own-pods.ts'
import type { WorkloadKind } from './kinds.ts'
import type { Workload } from './object.ts'
import { Reader, mapSome } from './reader.ts'
import type { Standing } from './said.ts'
import { standingOf, standingWith } from './standing.ts'

/** The client, and the clock for ages. */
export interface Asker {
  readonly client: Client
  readonly clock: Clock
}

/** A cause with the last warning about its object. */
export interface ToldCause extends GroupedCause {
  warning?: Warning
}

/** The output of `why` for a workload or a pod. */
export interface Explanation {
  /** In the form `deployment/web`. */
  name: string
  kind: string
  namespace: string
  /** The names `Progressing` and `Available`; for a pod, the status in `kubectl get pods`. */
  state: string
  message: string
  since: string | undefined
  deadlineAtMs: number | undefined
  causes: ToldCause[]
  /** Kinds that could not be read. */
  unread: string[]
  exitCode: number
}

/** The maximum number of causes for which events are read. */
const causesWithEvents = 5

/** Reads everything about a workload and explains it. */
export async function explainWorkload(
  session: Asker & { program: string },
  kind: WorkloadKind,
  object: Workload,
  given?: { reader: Reader; source: Source },
): Promise<Explanation> {
  const reader = given?.reader ?? new Reader(session.client)
  const around = await gather(reader, given?.source ?? askingSource(reader), kind, object)
  const nowMs = session.clock.now()
  const found = withProgram(causesOf(kind, object, around, nowMs), session.program)
  const standing = standingWith(standingOf(kind, object, nowMs), found)
  const causes = await withWarnings(reader, found, around.pods ?? [], nowMs)
  return {
    ...about(kind.singular, kind.kind, object, standing),
    causes,
    unread: reader.unread,
    exitCode: exitCodeFor(standing, causes),
  }
}

function about(
  singular: string,
  kind: string,
  { metadata }: Workload,
  { state, message, since, deadlineAtMs }: Pick<Standing, 'message' | 'since' | 'deadlineAtMs'> & { state: string },
) {
  return {
    name: `${singular}/${metadata.name}`,
    kind,
    namespace: metadata.namespace ?? '',
    state,
    message,
    since,
    deadlineAtMs,
  }
}

/** Adds the last events of the most severe causes, and of those that conditions do not explain. */
async function withWarnings(
  reader: Reader,
  causes: readonly Cause[],
  all: readonly Pod[],
  nowMs: number,
): Promise<ToldCause[]> {
  const groups = grouped(causes)
  const told = await mapSome(groups.slice(0, causesWithEvents), async (cause): Promise<ToldCause> => {
    const pod =
      cause.object.kind === 'Pod' ? all.find(({ metadata }) => metadata.name === cause.object.name) : undefined
    const warning = pod && cause.weight !== 'held' ? warningOf(await reader.eventsOf(pod)) : undefined
    return { ...withWarning(cause, warning, nowMs), others: cause.others, ...(warning ? { warning } : {}) }
  })
  return [...told, ...groups.slice(causesWithEvents)]
}

/** The same for one pod. */
export async function explainPod({ client, clock }: Asker, pod: Pod): Promise<Explanation> {
  const reader = new Reader(client)
  const around = await podSurroundings(reader, pod)
  const nowMs = clock.now()
  const cause = causeOfPod(pod, { nowMs, runsToCompletion: pod.spec?.restartPolicy !== 'Always', ...around })
  const causes = await withWarnings(reader, cause ? [cause] : [], [pod], nowMs)
  const { status, ready, containers } = summarizePod(pod)
  const owner = controllerOf(pod)
  const whose = owner ? `; it is of ${owner.kind.toLowerCase()}/${owner.name}` : ''
  const message = `${ready} of ${containers} ${containers === 1 ? 'container is' : 'containers are'} ready${whose}`
  const exitCode = !cause ? exitCodes.ok : causes[0]!.weight === 'trouble' ? exitCodes.trouble : exitCodes.waits
  const standing = { state: status, message, since: pod.status?.startTime, deadlineAtMs: undefined }
  return { ...about('pod', 'Pod', pod as Workload, standing), causes, unread: reader.unread, exitCode }
}

async function podSurroundings(reader: Reader, pod: Pod) {
  const found = pod.spec?.nodeName ? await reader.findAll<Node>(nodes, '', [pod.spec.nodeName]) : undefined
  const claims = await reader.findAll<PersistentVolumeClaim>(
    persistentvolumeclaims,
    pod.metadata.namespace ?? '',
    claimNamesOf(pod),
  )
  const owner = controllerOf(pod)
  // The hooks that may hold a pod are those of its CloneSet.
  const set =
    owner?.kind === 'CloneSet' ? await reader.find(clonesets, pod.metadata.namespace ?? '', owner.name) : undefined
  return {
    ...(set?.kind === 'found' ? { lifecycle: set.object.spec.lifecycle } : {}),
    ...(found ? { nodeOf: (name: string) => found.get(name) } : {}),
    ...(claims ? { claimOf: (name: string) => claims.get(name) ?? undefined } : {}),
  }
}

/** The names of pods in kubectl. */
export const isPodKind = (text: string): boolean => ['pod', 'pods', 'po'].includes(text.toLowerCase())
