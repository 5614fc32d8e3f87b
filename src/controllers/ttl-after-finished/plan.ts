import type { Job } from '../../api/generated/types.ts'
import type { Step } from '../kit/index.ts'
import { millisecondsOf } from '../kit/workload/index.ts'

export interface Observed {
  job: Job
  nowMs: number
}

export type Action = { kind: 'Delete'; job: Job }

/** When the job ended; undefined while it has not. */
function finishedAtMs({ status }: Job): number | undefined {
  const end = status?.conditions?.find((c) => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True')
  const atMs = millisecondsOf(end?.lastTransitionTime)
  return Number.isNaN(atMs) ? undefined : atMs
}

/** Whether the time of a job is limited, and runs. */
export const isOnTheClock = (job: Job): boolean => job.spec?.ttlSecondsAfterFinished !== undefined && finishedAtMs(job) !== undefined

/** Deletes a job whose time is over. One that ended in the future, by a clock that is ahead, waits for that much longer. */
export function plan({ job, nowMs }: Observed): Step<Action> {
  const ttlSeconds = job.spec?.ttlSecondsAfterFinished
  const endMs = finishedAtMs(job)
  if (ttlSeconds === undefined || endMs === undefined) return { actions: [] }
  const leftMs = endMs + ttlSeconds * 1000 - nowMs
  if (leftMs > 0) return { actions: [], requeueAfterMs: leftMs }
  return { actions: [{ kind: 'Delete', job }] }
}
