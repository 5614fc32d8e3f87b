import { type Cause, type CauseKind, explain, withoutEcho } from '../../api/explain/index.ts'
import type { CoreV1Event, Node, Pod } from '../../api/generated/types.ts'
import { millisecondsOf } from '../../api/object.ts'
import { exitCodes } from '../failure.ts'
import type { Surroundings } from './gather.ts'
import type { WorkloadKind } from './kinds.ts'
import type { Workload } from './object.ts'
import { eventTime } from './reader.ts'
import type { Standing } from './said.ts'

/** Explains a workload from the objects around it. Unreadable objects explain nothing. */
export function causesOf(kind: WorkloadKind, object: Workload, around: Surroundings, nowMs: number): Cause[] {
  const { nodes, claims, isUpdated, refusal } = around
  const causes = explain({
    kind: kind.kind,
    object,
    pods: around.pods ?? [],
    around: {
      nowMs,
      minReadySeconds: object.spec?.minReadySeconds ?? 0,
      runsToCompletion: kind.kind === 'Job' || kind.kind === 'CronJob',
      lifecycle: object.spec?.lifecycle,
      ...(nodes ? { nodeOf: (name: string) => nodes.get(name) } : {}),
      ...(claims ? { claimOf: (name: string) => claims.get(name) ?? undefined } : {}),
    },
    budgets: around.budgets,
    ...(refusal ? { refusal } : {}),
    ...(isUpdated ? { isUpdated } : {}),
  })
  return causes.map((cause) =>
    cause.what === 'DisruptionBudget' ? withDrainedPod(cause, around.pods ?? [], nodes) : cause,
  )
}

/** A budget matters to a workload while a user drains the node of one of its pods. */
function withDrainedPod(
  cause: Cause,
  pods: readonly Pod[],
  nodes: ReadonlyMap<string, Node | null> | undefined,
): Cause {
  const pod = pods.find(({ spec }) => nodes?.get(spec?.nodeName ?? '')?.spec?.unschedulable)
  return pod
    ? { ...cause, text: `${cause.text}; pod ${pod.metadata.name} is on node ${pod.spec?.nodeName}, which is cordoned` }
    : cause
}

/**
 * Reports whether a cause prevents the workload from reaching its goal. An exhausted budget that nobody needs does not.
 */
export const isInTheWay = ({ what, text }: Cause): boolean =>
  what !== 'DisruptionBudget' || text.endsWith('is cordoned')

/** The causes with help that names the program as it was called: kubectl runs it as `kubectl coxswain`. */
export const withProgram = (causes: readonly Cause[], program: string): Cause[] =>
  causes.map((cause) => ({ ...cause, help: cause.help.replace(/^coxswain /, `${program} `) }))

/** A cause with the names of all objects that have it. */
export interface GroupedCause extends Cause {
  /** Other objects of the same kind with the same cause, such as pods that wait for the same image. */
  others: string[]
}

/** Causes that differ only in the object become one, at the position of the first. */
export function grouped(causes: readonly Cause[]): GroupedCause[] {
  const groups = new Map<string, GroupedCause>()
  for (const cause of causes) {
    const key = JSON.stringify([cause.what, cause.text, cause.object.kind])
    const group = groups.get(key)
    if (group) group.others.push(cause.object.name)
    else groups.set(key, { ...cause, others: [] })
  }
  return [...groups.values()]
}

/** The last warning about an object. */
export interface Warning {
  reason: string
  message: string
  count: number
  at: string
}

export function warningOf(events: readonly CoreV1Event[]): Warning | undefined {
  const newest = events.find(({ type }) => type === 'Warning')
  if (!newest) return undefined
  return {
    reason: newest.reason ?? '',
    message: newest.message ?? '',
    count: newest.series?.count ?? newest.count ?? 1,
    at: eventTime(newest),
  }
}

/**
 * Warnings that explain why a pod does not start, if its conditions do not. Kubelets repeat them at least every other
 * minute.
 */
const startWarnings: Readonly<Record<string, CauseKind>> = {
  FailedMount: 'VolumeFailed',
  FailedAttachVolume: 'VolumeFailed',
  FailedMapVolume: 'VolumeFailed',
  FailedCreatePodSandBox: 'SandboxFailed',
  NetworkNotReady: 'NetworkFailed',
}
const warningsCountForMs = 150_000

/** A pod that seems to be starting gets the cause of its newest warning. */
export function withWarning(cause: Cause, warning: Warning | undefined, nowMs: number): Cause {
  const what = warning && startWarnings[warning.reason]
  if (!what || (cause.what !== 'SandboxStarting' && cause.what !== 'Starting')) return cause
  if (nowMs - millisecondsOf(warning.at) > warningsCountForMs) return cause
  const text = `cannot start: ${withoutEcho(warning.message)}`
  return { ...cause, what, weight: 'trouble', text, help: 'See the events of the pod, and the logs of its node.' }
}

/** The exit code of a command that reports a workload: it is complete, it waits, or it is in trouble. */
export function exitCodeFor({ state }: Standing, causes: readonly Cause[]): number {
  const inTheWay = causes.filter(isInTheWay)
  if (state === 'Stuck' || state === 'Failed' || inTheWay.some(({ weight }) => weight === 'trouble'))
    return exitCodes.trouble
  const isWell = state === 'Available' || state === 'Complete' || state === 'Running' || state === 'Scheduled'
  return isWell && inTheWay.every(({ weight }) => weight === 'starting') ? exitCodes.ok : exitCodes.waits
}
