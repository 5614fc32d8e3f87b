import type { CronJob, Job } from '../../api/generated/types.ts'
import type { Step } from '../kit/index.ts'
import { millisecondsOf } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { type Derived, type Reckoning, endOf } from './derive.ts'

/** Finished jobs beyond the history limits, sorted by start. Jobs that are being deleted do not count. */
function surplusJobs({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const kept = jobs.filter((job) => !job.metadata.deletionTimestamp)
  const beyond = (end: 'Complete' | 'Failed', limit: number | undefined) => {
    if (limit === undefined) return []
    const ended = kept.filter((job) => endOf(job) === end).sort(byStart)
    return ended.slice(0, Math.max(0, ended.length - limit))
  }
  return [...beyond('Complete', spec.successfulJobsHistoryLimit), ...beyond('Failed', spec.failedJobsHistoryLimit)]
}

/** A job that never started sorts last. */
const startOf = ({ status }: Job): number =>
  status?.startTime ? millisecondsOf(status.startTime) : Number.POSITIVE_INFINITY

function byStart(a: Job, b: Job): number {
  const [first, second] = [startOf(a), startOf(b)]
  return first === second ? ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1) : first - second
}

/** Timers fire early if clocks differ slightly. */
const marginMs = 100

/** Decides the actions of a CronJob, and the time of the next reconcile. Pure. */
export function plan(seen: Derived): Step<Action> {
  const { cronJob, jobs, nowMs, reckoning, due } = seen
  const actions: Action[] = [
    ...surplusJobs(cronJob, jobs).map((job): Action => ({ kind: 'DeleteSurplus', job })),
    ...tellOfJobs(reckoning),
    ...tellOfSchedule(seen),
    ...(due.kind === 'now' ? serve(seen, due.dueMs) : []),
  ]
  const nextMs = due.kind === 'never' ? undefined : due.nextMs
  return nextMs === undefined ? { actions } : { actions, requeueAfterMs: nextMs + marginMs - nowMs }
}

const tell = (type: 'Normal' | 'Warning', reason: string, message: string): Action => ({
  kind: 'Tell',
  type,
  reason,
  message,
})

function tellOfJobs({ completed, missing, unexpected }: Reckoning): Action[] {
  return [
    ...unexpected.map(({ metadata }) =>
      tell('Warning', 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${metadata.name}`),
    ),
    ...completed.map((job) =>
      tell('Normal', 'SawCompletedJob', `Saw completed job: ${job.metadata.name}, condition: ${endOf(job)}`),
    ),
    ...missing.map(({ name }) => tell('Normal', 'MissingJob', `Active job went missing: ${name}`)),
  ]
}

const manual = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/'

function tellOfSchedule({ cronJob: { spec }, due }: Derived): Action[] {
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

/** Starts the job of a scheduled time, unless it was started, or the concurrency policy forbids it. */
function serve({ cronJob, jobs, reckoning: { active } }: Derived, dueMs: number): Action[] {
  // The name contains the minute, so that the server rejects a second create.
  const name = `${cronJob.metadata.name}-${Math.floor(dueMs / 60_000)}`
  if (active.some((ref) => ref.name === name)) return []
  const started = jobs.find((job) => job.metadata.name === name)
  if (started) return [{ kind: 'RecordJob', job: started, dueMs }]
  const policy = cronJob.spec.concurrencyPolicy
  if (policy === 'Forbid' && active.length > 0) {
    return [
      tell(
        'Normal',
        'JobAlreadyActive',
        'Not starting job because prior execution is running and concurrency policy is Forbid',
      ),
    ]
  }
  const activeUids = new Set(active.map((ref) => ref.uid))
  const replaced = policy === 'Replace' ? jobs.filter((job) => activeUids.has(job.metadata.uid ?? '')) : []
  return [...replaced.map((job): Action => ({ kind: 'DeleteReplaced', job })), { kind: 'StartJob', name, dueMs }]
}
