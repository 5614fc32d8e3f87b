import type { Job } from '../../api/generated/types.ts'
import { jobs } from '../../client/index.ts'
import { defineController } from '../kit/index.ts'
import { type Action, type Observed, isOnTheClock, plan } from './plan.ts'

/** Deletes jobs `ttlSecondsAfterFinished` after their end. */
export const ttlAfterFinishedController = defineController<Job, Observed, Action>({
  name: 'ttl-after-finished',
  owner: jobs,
  looksAt: isOnTheClock,
  observe: ({ nowMs }, job) => ({ job, nowMs }),
  plan,
  apply: {
    // Only in the very state that was judged: somebody may have given it more time. Its pods go first, as Kubernetes has it.
    Delete: ({ writer }, { job }) => writer.delete(jobs, job, { resourceVersion: job.metadata.resourceVersion, propagationPolicy: 'Foreground' }),
  },
})
