import type { CronJob, Job } from '../../api/generated/types.ts'
import { isAlreadyExists, jobs } from '../../client/index.ts'
import type { Appliers, ApplyContext } from '../kit/index.ts'
import { jobOfTemplate } from './job-of-template.ts'
import type { Action } from './plan.ts'

const failedDelete = (error: Error) => ({ reason: 'FailedDelete', message: `Deleted job: ${error.message}` })

async function deleteJob({ writer, event }: ApplyContext<CronJob>, job: Job): Promise<void> {
  await writer.delete(jobs, job, { propagationPolicy: 'Background' })
  event('Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`)
}

/** Does what the plan says. StartJob and RecordJob answer with the job. */
export const apply: Appliers<CronJob, Action> = {
  Tell: async ({ event }, { type, reason, message }) => event(type, reason, message),
  DeleteSurplus: async (ctx, { job }) => {
    try {
      await deleteJob(ctx, job)
    } catch (e) {
      ctx.signal.throwIfAborted()
      // History that stays a while longer is no reason to start nothing.
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
        // Somebody else's: trying again would not help, the next due time has another name.
        event('Warning', 'FailedCreate', `Error creating job: ${(e as Error).message}`)
        return undefined
      }
    },
    failed: (error) => ({ reason: 'FailedCreate', message: `Error creating job: ${error.message}` }),
  },
  RecordJob: async (_ctx, { job }) => job,
}
