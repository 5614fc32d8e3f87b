import type { Job } from '../../api/generated/types.ts'
import type { Step } from '../kit/index.ts'
import { type Due, findDue } from './due.ts'
import { surplusJobs } from './history.ts'
import type { Observed } from './observe.ts'
import { type Reckoning, endOf, reckon } from './reckoning.ts'

export type Action =
  | { kind: 'Tell'; type: 'Normal' | 'Warning'; reason: string; message: string }
  | { kind: 'DeleteSurplus'; job: Job }
  | { kind: 'DeleteReplaced'; job: Job }
  | { kind: 'StartJob'; name: string; dueMs: number }
  /** It was started, and the status does not say so yet. */
  | { kind: 'RecordJob'; job: Job; dueMs: number }

/** Timers fire early where clocks differ a little. */
const marginMs = 100

/** Decides what to do about a CronJob now, and when to look again. Pure. */
export function plan(seen: Observed): Step<Action> {
  const { cronJob, jobs, nowMs } = seen
  const reckoning = reckon(cronJob, jobs)
  const due = findDue(seen)
  const actions: Action[] = [
    ...surplusJobs(cronJob, jobs).map((job): Action => ({ kind: 'DeleteSurplus', job })),
    ...tellOfJobs(reckoning),
    ...tellOfSchedule(seen, due),
    ...(due.kind === 'now' ? serve(seen, due.dueMs, reckoning) : []),
  ]
  const nextMs = due.kind === 'never' ? undefined : due.nextMs
  return nextMs === undefined ? { actions } : { actions, requeueAfterMs: nextMs + marginMs - nowMs }
}

const tell = (type: 'Normal' | 'Warning', reason: string, message: string): Action => ({ kind: 'Tell', type, reason, message })

function tellOfJobs({ completed, missing, unexpected }: Reckoning): Action[] {
  return [
    ...unexpected.map(({ metadata }) => tell('Warning', 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${metadata.name}`)),
    ...completed.map((job) => tell('Normal', 'SawCompletedJob', `Saw completed job: ${job.metadata.name}, condition: ${endOf(job)}`)),
    ...missing.map(({ name }) => tell('Normal', 'MissingJob', `Active job went missing: ${name}`)),
  ]
}

const manual = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/'

function tellOfSchedule({ cronJob: { spec } }: Observed, due: Due): Action[] {
  if (due.kind === 'never') return [tell('Warning', due.reason, due.message)]
  const told: Action[] = []
  if (!spec.suspend && spec.schedule.includes('TZ')) {
    const what = `CRON_TZ or TZ used in schedule ${JSON.stringify(spec.schedule)} is not officially supported, see ${manual} for more details`
    told.push(tell('Warning', 'UnsupportedSchedule', what))
  }
  if (due.kind === 'missed') {
    const when = new Date(due.dueMs).toUTCString().replace('GMT', '+0000')
    told.push(tell('Warning', 'MissSchedule', `Missed scheduled time to start a job: ${when}`))
  }
  if (due.kind === 'now' && due.isOneOfMany) {
    const advice = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew'
    told.push(tell('Warning', 'TooManyMissedTimes', advice))
  }
  return told
}

/** Starts the job of a due time, unless it was started before, or must not be yet. */
function serve({ cronJob, jobs }: Observed, dueMs: number, { active }: Reckoning): Action[] {
  // By the minute: whoever makes it twice is refused the second time.
  const name = `${cronJob.metadata.name}-${Math.floor(dueMs / 60_000)}`
  if (active.some((ref) => ref.name === name)) return []
  const started = jobs.find((job) => job.metadata.name === name)
  if (started) return [{ kind: 'RecordJob', job: started, dueMs }]
  const policy = cronJob.spec.concurrencyPolicy
  if (policy === 'Forbid' && active.length > 0) {
    return [tell('Normal', 'JobAlreadyActive', 'Not starting job because prior execution is running and concurrency policy is Forbid')]
  }
  const activeUids = new Set(active.map((ref) => ref.uid))
  const replaced = policy === 'Replace' ? jobs.filter((job) => activeUids.has(job.metadata.uid ?? '')) : []
  return [...replaced.map((job): Action => ({ kind: 'DeleteReplaced', job })), { kind: 'StartJob', name, dueMs }]
}
