import type { CronJob, Job } from '../../api/generated/types.ts'
import { millisecondsOf } from '../kit/workload/index.ts'
import { endOf } from './reckoning.ts'

/** Finished jobs beyond the limits of history, those that started first. Who is being deleted is no part of it any more. */
export function surplusJobs({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const kept = jobs.filter((job) => !job.metadata.deletionTimestamp)
  const beyond = (end: 'Complete' | 'Failed', limit: number | undefined) => {
    if (limit === undefined) return []
    const ended = kept.filter((job) => endOf(job) === end).sort(byStart)
    return ended.slice(0, Math.max(0, ended.length - limit))
  }
  return [...beyond('Complete', spec.successfulJobsHistoryLimit), ...beyond('Failed', spec.failedJobsHistoryLimit)]
}

/** A job that never started comes last. */
const startOf = ({ status }: Job): number => (status?.startTime ? millisecondsOf(status.startTime) : Number.POSITIVE_INFINITY)

function byStart(a: Job, b: Job): number {
  const [first, second] = [startOf(a), startOf(b)]
  return first === second ? ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1) : first - second
}
