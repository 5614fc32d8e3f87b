import type { Pod } from '../generated/types.ts'
import {
  type BackOff,
  backOffAfter,
  endedAtMs,
  indexBackOff,
  indexOf,
  noBackOff,
  waitMs,
} from '../kinds/workloads/job-back-off.ts'
import { isPodActive, isPodFinished } from '../kinds/pods/pod-availability.ts'
import { millisecondsOf, timestamp } from '../object.ts'

/** The fields of a Job that determine how many pods it wants. */
interface JobNumbers {
  spec?: { parallelism?: number; completions?: number; suspend?: boolean; backoffLimitPerIndex?: number }
  status?: {
    active?: unknown
    succeeded?: number
    conditions?: readonly { type: string; status: string; message?: string }[] | null
  }
}

/** The number of active pods that a Job wants. A work queue gets no more pods after one has succeeded. */
export function wantedActive({ spec = {}, status = {} }: JobNumbers): number {
  const { parallelism = 1, completions } = spec
  const { succeeded = 0, active = 0 } = status
  const isOver = status.conditions?.some(({ type, status: is }) => overTypes.has(type) && is === 'True')
  if (spec.suspend || isOver) return 0
  if (completions === undefined) return succeeded > 0 ? Number(active) : parallelism
  return Math.max(0, Math.min(parallelism, completions - succeeded))
}

const overTypes: ReadonlySet<string> = new Set(['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'])

/** The back-off of a Job before it creates its next pod. */
export interface Pause {
  failures: number
  /** The index whose pod failed, if each index has its own back-off. */
  index?: number
  dueAtMs: number
}

/**
 * The current back-off of a Job, derived from its pods; undefined if the Job creates pods at once. `known` is the
 * back-off that its controller remembers.
 */
export function pauseOf(
  { spec = {} }: Pick<JobNumbers, 'spec'>,
  pods: readonly Pod[],
  nowMs: number,
  known?: BackOff,
): Pause | undefined {
  const failed = pods.filter((pod) => pod.status?.phase === 'Failed' && !pod.metadata.deletionTimestamp)
  if (spec.backoffLimitPerIndex === undefined) {
    const succeeded = pods.filter((pod) => pod.status?.phase === 'Succeeded')
    return pauseAfter(known ?? backOffAfter(noBackOff, succeeded, failed), nowMs)
  }
  const completions = spec.completions ?? Infinity
  const isBusy = (pod: Pod) => isPodActive(pod) || pod.status?.phase === 'Succeeded'
  const busy = new Set(pods.filter(isBusy).map((pod) => indexOf(pod, completions)))
  const pauses = failed.flatMap((pod): Pause[] => {
    const index = indexOf(pod, completions)
    const pause = index === undefined || busy.has(index) ? undefined : pauseAfter(indexBackOff(pod), nowMs)
    return pause ? [{ ...pause, index: index! }] : []
  })
  return pauses.toSorted((a, b) => a.dueAtMs - b.dueAtMs)[0]
}

/** The pause of a back-off. */
export function pauseAfter(backOff: BackOff, nowMs: number): Pause | undefined {
  const ms = waitMs(backOff, nowMs)
  return ms > 0 ? { failures: backOff.failures, dueAtMs: nowMs + ms } : undefined
}

/** `after 2 failures in a row, the next pod is due at 2026-01-01T00:00:20Z` */
export function pauseText({ failures, index, dueAtMs }: Pause): string {
  const where = index === undefined ? 'in a row, the' : `of index ${index}, its`
  const count = `${failures} ${failures === 1 ? 'failure' : 'failures'}`
  return `after ${count} ${where} next pod is due at ${timestamp(dueAtMs)}`
}

const pauseForm = /\bAfter (\d+) failures? (?:in a row, the|of index (\d+), its) next pod is due at (\S+Z)\./

/** The pause according to the conditions. The controller remembers failures of pods that no longer exist. */
export function pauseInConditions({ status }: Pick<JobNumbers, 'status'>, nowMs: number): Pause | undefined {
  for (const { type, message = '' } of status?.conditions ?? []) {
    const [, failures, index, due] = (type === 'Waiting' || type === 'Running' ? pauseForm.exec(message) : null) ?? []
    const dueAtMs = millisecondsOf(due)
    if (failures && dueAtMs > nowMs) {
      return { failures: Number(failures), ...(index ? { index: Number(index) } : {}), dueAtMs }
    }
  }
  return undefined
}

/**
 * The pods that explain a Job: those that have not ended. While the Job backs off, or if it has no others, the pod that
 * failed last.
 */
export function podsThatMatter(pods: readonly Pod[], isPaused: boolean): Pod[] {
  const open = pods.filter((pod) => !isPodFinished(pod))
  const last = isPaused || open.length === 0 ? lastFailed(pods) : undefined
  return last ? [...open, last] : open
}

function lastFailed(pods: readonly Pod[]): Pod | undefined {
  let last: Pod | undefined
  for (const pod of pods) {
    if (pod.status?.phase === 'Failed' && (!last || endedAtMs(pod) >= endedAtMs(last))) last = pod
  }
  return last
}
