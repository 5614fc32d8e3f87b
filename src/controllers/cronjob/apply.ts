import type { CronJob, Job } from '../../api/generated/types.ts'
import { zoneClock } from '../../api/kinds/workloads/cron-times.ts'
import { type New, isAlreadyExists, jobs } from '../../client/index.ts'
import type { Appliers, ApplyContext } from '../kit/index.ts'

export type Action =
  | { kind: 'Tell'; type: 'Normal' | 'Warning'; reason: string; message: string }
  | { kind: 'DeleteSurplus'; job: Job }
  | { kind: 'DeleteReplaced'; job: Job }
  | { kind: 'StartJob'; name: string; dueMs: number }
  /** Records a job that was started but is not in the status yet. */
  | { kind: 'RecordJob'; job: Job; dueMs: number }

const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp'

/** The job of one scheduled time. */
function jobOfTemplate({ spec: { jobTemplate, timeZone = 'UTC' } }: CronJob, name: string, dueMs: number): New<Job> {
  const { labels, annotations } = jobTemplate.metadata ?? {}
  return {
    metadata: {
      name,
      ...(labels ? { labels } : {}),
      annotations: { ...annotations, [scheduledAnnotation]: timeIn(timeZone, dueMs) },
    },
    spec: jobTemplate.spec,
  }
}

/** A time as the clocks of a zone show it: `2026-03-01T09:00:00+01:00`. */
function timeIn(zone: string, ms: number): string {
  const offsetMs = zoneClock(zone).offsetMs(ms)
  const local = new Date(ms + offsetMs).toISOString().slice(0, 19)
  if (offsetMs === 0) return `${local}Z`
  const minutes = Math.abs(offsetMs) / 60_000
  const two = (n: number) => String(n).padStart(2, '0')
  return `${local}${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

const failedDelete = (error: Error) => ({ reason: 'FailedDelete', message: `Deleted job: ${error.message}` })

async function deleteJob({ writer, event }: ApplyContext<CronJob>, job: Job): Promise<void> {
  await writer.delete(jobs, job, { propagationPolicy: 'Background' })
  event('Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`)
}

/** StartJob and RecordJob return the job. */
export const apply: Appliers<CronJob, Action> = {
  Tell: async ({ event }, { type, reason, message }) => event(type, reason, message),
  DeleteSurplus: async (ctx, { job }) => {
    try {
      await deleteJob(ctx, job)
    } catch (e) {
      ctx.signal.throwIfAborted()
      // A failure to delete history must not prevent a start.
      const { reason, message } = failedDelete(e as Error)
      ctx.event('Warning', reason, message)
    }
  },
  DeleteReplaced: { run: (ctx, { job }) => deleteJob(ctx, job), failed: failedDelete },
  StartJob: {
    run: async ({ writer, event, owner }, { name, dueMs }) => {
      try {
        const job = await writer.create(jobs, jobOfTemplate(owner, name, dueMs))
        event('Normal', 'SuccessfulCreate', `Created job ${name}`)
        return job
      } catch (e) {
        if (!isAlreadyExists(e)) throw e
        // The job belongs to another owner. A retry cannot help, and the next scheduled time has another name.
        event('Warning', 'FailedCreate', `Error creating job: ${(e as Error).message}`)
        return undefined
      }
    },
    failed: (error) => ({ reason: 'FailedCreate', message: `Error creating job: ${error.message}` }),
  },
  RecordJob: async (_ctx, { job }) => job,
}
