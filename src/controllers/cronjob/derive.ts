import type { CronJob, Job, ObjectReference } from '../../api/generated/types.ts'
import {
  type CronSchedule,
  CronScheduleError,
  parseCronSchedule,
  timeZoneProblems,
} from '../../api/kinds/workloads/cron-schedule.ts'
import { lastDueTime, nextDueTime } from '../../api/kinds/workloads/cron-times.ts'
import { isConditionTrue, millisecondsOf } from '../kit/workload/index.ts'
import type { Observed } from './observe.ts'

/** The result of a finished job. */
export const endOf = ({ status }: Job): 'Complete' | 'Failed' | undefined =>
  isConditionTrue(status?.conditions, 'Complete')
    ? 'Complete'
    : isConditionTrue(status?.conditions, 'Failed')
      ? 'Failed'
      : undefined

/** The comparison of the jobs in the status with the existing ones. */
export interface Reckoning {
  active: readonly ObjectReference[]
  /** Active jobs that have finished. */
  completed: readonly Job[]
  /** Active jobs that no longer exist. */
  missing: readonly ObjectReference[]
  /** Running jobs that the status does not list: created by others, or by us right before a crash. */
  unexpected: readonly Job[]
  lastSuccessfulTime: string | undefined
}

/** Compares the status with the existing jobs. */
function reckon(cronJob: CronJob, jobs: readonly Job[]): Reckoning {
  const listed = cronJob.status?.active ?? []
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]))
  const isListed = new Set(listed.map((ref) => ref.uid))
  const successes = jobs.filter((job) => endOf(job) === 'Complete').map((job) => job.status.completionTime)
  const isRunning = (job: Job | undefined) => job !== undefined && !endOf(job)
  return {
    active: listed.filter((ref) => isRunning(byUid.get(ref.uid))),
    completed: jobs.filter((job) => isListed.has(job.metadata.uid) && endOf(job)),
    missing: listed.filter((ref) => !byUid.has(ref.uid)),
    unexpected: jobs.filter((job) => !isListed.has(job.metadata.uid) && isRunning(job)),
    lastSuccessfulTime: latest([cronJob.status?.lastSuccessfulTime, ...successes]),
  }
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.reduce<string | undefined>(
    (last, time) => (last === undefined || millisecondsOf(time) > millisecondsOf(last) ? time : last),
    undefined,
  )
}

/** A controller that was away for a weekend may miss this many starts. More indicate a wrong clock. */
const manyMissed = 100

/** An observation together with what several stages need of it. */
export interface Derived extends Observed {
  reckoning: Reckoning
  due: Due
}

export const derive = (seen: Observed): Derived => ({
  ...seen,
  reckoning: reckon(seen.cronJob, seen.jobs),
  due: findDue(seen),
})

/** The state of the schedule at the current time. */
export type Due =
  /** Nothing is due until the spec changes. */
  | { kind: 'never'; reason: string; message: string }
  /** Nothing is due before `nextMs`, or the CronJob is suspended. */
  | { kind: 'later'; nextMs: number | undefined }
  /** A start is due, but its starting deadline has passed. */
  | { kind: 'missed'; dueMs: number; nextMs: number }
  | { kind: 'now'; dueMs: number; nextMs: number; isOneOfMany: boolean }

/** Finds the last scheduled time that has not been served. */
function findDue(seen: Observed): Due {
  const { cronJob, nowMs, localZone } = seen
  const { schedule: text, timeZone, suspend, startingDeadlineSeconds } = cronJob.spec
  const [zoneProblem] = timeZone === undefined ? [] : timeZoneProblems(timeZone)
  if (zoneProblem) {
    return {
      kind: 'never',
      reason: 'UnknownTimeZone',
      message: `invalid timeZone: ${JSON.stringify(timeZone)}: ${zoneProblem}`,
    }
  }
  if (suspend) return { kind: 'later', nextMs: undefined }
  let schedule: CronSchedule
  try {
    schedule = parseCronSchedule(text)
  } catch (e) {
    if (!(e instanceof CronScheduleError)) throw e
    return {
      kind: 'never',
      reason: 'UnparseableSchedule',
      message: `unparseable schedule: ${JSON.stringify(text)} : ${e.message}`,
    }
  }
  const zone = timeZone ?? localZone
  const sinceMs = servedUntil(seen)
  const dueMs = lastDueTime(schedule, sinceMs, nowMs, zone)
  const nextMs = nextDueTime(schedule, dueMs ?? sinceMs, zone)
  if (nextMs === undefined) {
    return {
      kind: 'never',
      reason: 'InvalidSchedule',
      message: `invalid schedule: ${text} : time difference between two schedules is less than 1 second`,
    }
  }
  if (dueMs === undefined) return { kind: 'later', nextMs }
  const deadlineMs =
    startingDeadlineSeconds === undefined ? Number.NEGATIVE_INFINITY : nowMs - Number(startingDeadlineSeconds) * 1000
  if (dueMs <= deadlineMs) return { kind: 'missed', dueMs, nextMs }
  return { kind: 'now', dueMs, nextMs, isOneOfMany: isLong(schedule, Math.max(sinceMs, deadlineMs), nowMs, zone) }
}

/** The time before which nothing is due: the last start, or the creation of this CronJob or this schedule. */
function servedUntil({ cronJob: { metadata, status }, scheduledSinceMs }: Observed): number {
  const lastMs = millisecondsOf(status?.lastScheduleTime ?? metadata.creationTimestamp)
  return Math.max(lastMs, scheduledSinceMs ?? Number.NEGATIVE_INFINITY)
}

/**
 * Reports whether the period contains more starts than `manyMissed`, estimated from the interval between the first two.
 */
function isLong(schedule: CronSchedule, fromMs: number, nowMs: number, zone: string): boolean {
  const first = nextDueTime(schedule, fromMs, zone)
  const second = first === undefined ? undefined : nextDueTime(schedule, first, zone)
  if (first === undefined || second === undefined) return false
  return Math.floor((nowMs - first) / (second - first)) + 1 > manyMissed
}
