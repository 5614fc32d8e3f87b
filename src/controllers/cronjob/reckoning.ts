import type { CronJob, Job, ObjectReference } from '../../api/generated/types.ts'
import { isConditionTrue, millisecondsOf } from '../kit/workload/index.ts'

/** How a job ended, if it did. */
export const endOf = ({ status }: Job): 'Complete' | 'Failed' | undefined =>
  isConditionTrue(status?.conditions, 'Complete') ? 'Complete' : isConditionTrue(status?.conditions, 'Failed') ? 'Failed' : undefined

/** What became of the jobs that the status calls active, and of others. */
export interface Reckoning {
  active: readonly ObjectReference[]
  /** Were active and have ended. */
  completed: readonly Job[]
  /** Were active and are not there any more. */
  missing: readonly ObjectReference[]
  /** Run, and the status does not know them: made by others, or by us right before a crash. */
  unexpected: readonly Job[]
  lastSuccessfulTime: string | undefined
}

/** Compares the status with the jobs there are. */
export function reckon(cronJob: CronJob, jobs: readonly Job[]): Reckoning {
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
  return known.reduce<string | undefined>((last, time) => (last === undefined || millisecondsOf(time) > millisecondsOf(last) ? time : last), undefined)
}
