import { parseCronSchedule } from '../../api/kinds/workloads/cron-schedule.ts'
import { nextDueTime } from '../../api/kinds/workloads/cron-times.ts'
import { humanDuration } from '../../api/printing/duration.ts'
import { countOf } from '../../api/printing/plural.ts'
import { millisecondsOf, timestamp } from '../../api/object.ts'
import { type Numbers, type Workload, conditionOf } from './object.ts'
import type { Said } from './said.ts'

/** The state of a Job. */
export function jobSaid(object: Workload, { desired, current, succeeded = 0, completions = 1 }: Numbers): Said {
  const { spec = {}, status = {} } = object
  const done = `${succeeded} of ${countOf(completions, 'completion', 'completions')}`
  const failures = status.failed ? `, ${countOf(status.failed, 'pod has', 'pods have')} failed` : ''
  const ended = conditionOf(object, 'Failed')
  if (ended?.status === 'True') {
    const message = [ended.reason, ended.message].filter(Boolean).join(': ')
    return { state: 'Failed', reason: ended.reason ?? '', message, since: ended.lastTransitionTime ?? undefined }
  }
  const complete = conditionOf(object, 'Complete')
  if (complete?.status === 'True') {
    const tookMs = millisecondsOf(status.completionTime) - millisecondsOf(status.startTime)
    const since = status.completionTime ?? complete.lastTransitionTime ?? undefined
    return {
      state: 'Complete',
      reason: complete.reason ?? '',
      message: `${done}${Number.isNaN(tookMs) ? '' : ` in ${humanDuration(tookMs)}`}`,
      since,
    }
  }
  if (spec.suspend) {
    return {
      state: 'Suspended',
      reason: 'JobSuspended',
      message: done,
      since: conditionOf(object, 'Suspended')?.lastTransitionTime ?? undefined,
    }
  }
  const waiting = conditionOf(object, 'Waiting')
  const running = conditionOf(object, 'Running')
  // Kubernetes' own Jobs have neither condition, but report the number of ready pods.
  if (running ? running.status === 'True' : (status.ready ?? 0) > 0) {
    const since = running?.lastTransitionTime ?? status.startTime
    return {
      state: 'Running',
      reason: running?.reason ?? '',
      message: `${activeText(current, desired)}, ${done}${failures}`,
      since: since ?? undefined,
    }
  }
  const reason = waiting?.reason ?? ''
  const why = waiting?.message?.replace(/\.$/, '') || 'No pod is running'
  return {
    state: 'Waiting',
    reason,
    message: `${why}${failures}`,
    since: waiting?.lastTransitionTime ?? status.startTime,
  }
}

/** A text such as `2 pods active`, or `1 of 3 pods active` if some are missing. */
const activeText = (active: number, wanted: number): string =>
  active < wanted ? `${active} of ${countOf(wanted, 'pod', 'pods')} active` : `${countOf(active, 'pod', 'pods')} active`

/** The state of a CronJob. */
export function cronJobSaid({ spec = {}, status = {} }: Workload, { current: active }: Numbers, nowMs: number): Said {
  const last = status.lastScheduleTime
  if (spec.suspend) return { state: 'Suspended', reason: 'CronJobSuspended', message: '', since: last }
  const next = nextRun(spec, nowMs)
  if (active > 0)
    return {
      state: 'Running',
      reason: 'JobsActive',
      message: `${countOf(active, 'job is', 'jobs are')} active; ${next}`,
      since: last,
    }
  return { state: 'Scheduled', reason: 'WaitingForSchedule', message: next, since: last }
}

/**
 * A text such as `next at 2026-01-01T00:05:00Z`. A schedule without a time zone is in that of the controller, which is
 * assumed to be ours.
 */
function nextRun({ schedule = '', timeZone }: NonNullable<Workload['spec']>, nowMs: number): string {
  try {
    const atMs = nextDueTime(
      parseCronSchedule(schedule),
      nowMs,
      timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
    )
    return atMs === undefined ? `its schedule ${schedule} never comes` : `next at ${timestamp(atMs)}`
  } catch {
    return `its schedule is ${schedule}`
  }
}
