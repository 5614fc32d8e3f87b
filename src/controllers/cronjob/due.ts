import { type CronSchedule, CronScheduleError, parseCronSchedule, timeZoneProblems } from '../../api/kinds/cron-schedule.ts'
import { lastDueTime, nextDueTime } from '../../api/kinds/cron-times.ts'
import { millisecondsOf } from '../kit/workload/index.ts'
import type { Observed } from './observe.ts'

/** So many starts can be missed by a controller that was away for a weekend; more hint at a clock that is wrong. */
const manyMissed = 100

/** What the schedule says about now. */
export type Due =
  /** Nothing will be due until somebody changes it. */
  | { kind: 'never'; reason: string; message: string }
  /** Nothing is due before `nextMs`, or it is suspended. */
  | { kind: 'later'; nextMs: number | undefined }
  /** Was due, and longer ago than it may be. */
  | { kind: 'missed'; dueMs: number; nextMs: number }
  | { kind: 'now'; dueMs: number; nextMs: number; isOneOfMany: boolean }

/** Finds the last time that was due and has not been served. */
export function findDue(seen: Observed): Due {
  const { cronJob, nowMs, localZone } = seen
  const { schedule: text, timeZone, suspend, startingDeadlineSeconds } = cronJob.spec
  const [zoneProblem] = timeZone === undefined ? [] : timeZoneProblems(timeZone)
  if (zoneProblem) return { kind: 'never', reason: 'UnknownTimeZone', message: `invalid timeZone: ${JSON.stringify(timeZone)}: ${zoneProblem}` }
  if (suspend) return { kind: 'later', nextMs: undefined }
  let schedule: CronSchedule
  try {
    schedule = parseCronSchedule(text)
  } catch (e) {
    if (!(e instanceof CronScheduleError)) throw e
    return { kind: 'never', reason: 'UnparseableSchedule', message: `unparseable schedule: ${JSON.stringify(text)} : ${e.message}` }
  }
  const zone = timeZone ?? localZone
  const sinceMs = servedUntil(seen)
  const dueMs = lastDueTime(schedule, sinceMs, nowMs, zone)
  const nextMs = nextDueTime(schedule, dueMs ?? sinceMs, zone)
  if (nextMs === undefined) {
    return { kind: 'never', reason: 'InvalidSchedule', message: `invalid schedule: ${text} : time difference between two schedules is less than 1 second` }
  }
  if (dueMs === undefined) return { kind: 'later', nextMs }
  const deadlineMs = startingDeadlineSeconds === undefined ? Number.NEGATIVE_INFINITY : nowMs - Number(startingDeadlineSeconds) * 1000
  if (dueMs <= deadlineMs) return { kind: 'missed', dueMs, nextMs }
  return { kind: 'now', dueMs, nextMs, isOneOfMany: isLong(schedule, Math.max(sinceMs, deadlineMs), nowMs, zone) }
}

/** Up to when nothing is due any more: the last start, or the beginning of this CronJob, or of this schedule. */
function servedUntil({ cronJob: { metadata, status }, scheduledSinceMs }: Observed): number {
  const lastMs = millisecondsOf(status?.lastScheduleTime ?? metadata.creationTimestamp)
  return Math.max(lastMs, scheduledSinceMs ?? Number.NEGATIVE_INFINITY)
}

/** Whether more starts fit into the time than can be missed in good order, judged by the distance of the first two. */
function isLong(schedule: CronSchedule, fromMs: number, nowMs: number, zone: string): boolean {
  const first = nextDueTime(schedule, fromMs, zone)
  const second = first === undefined ? undefined : nextDueTime(schedule, first, zone)
  if (first === undefined || second === undefined) return false
  return Math.floor((nowMs - first) / (second - first)) + 1 > manyMissed
}
