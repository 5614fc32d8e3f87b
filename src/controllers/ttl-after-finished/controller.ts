import type { Job } from '../../api/generated/types.ts'
import { jobs } from '../../client/index.ts'
import { type Step, defineController } from '../kit/index.ts'
import { millisecondsOf } from '../kit/workload/index.ts'

export interface Observed {
  job: Job
  nowMs: number
}

export type Action = { kind: 'Delete'; job: Job }

/** The end of a job. Undefined while it has not finished. */
function finishedAtMs({ status }: Job): number | undefined {
  const end = status?.conditions?.find((c) => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True')
  const atMs = millisecondsOf(end?.lastTransitionTime)
  return Number.isNaN(atMs) ? undefined : atMs
}

/** Reports whether a job has finished and has a TTL. */
export const isOnTheClock = (job: Job): boolean =>
  job.spec?.ttlSecondsAfterFinished !== undefined && finishedAtMs(job) !== undefined

/** Deletes an expired job. A job that finished in the future, because of a fast clock, waits longer. */
export function plan({ job, nowMs }: Observed): Step<Action> {
  const ttlSeconds = job.spec?.ttlSecondsAfterFinished
  const endMs = finishedAtMs(job)
  if (ttlSeconds === undefined || endMs === undefined) return { actions: [] }
  const leftMs = endMs + ttlSeconds * 1000 - nowMs
  if (leftMs > 0) return { actions: [], requeueAfterMs: leftMs }
  return { actions: [{ kind: 'Delete', job }] }
}

/** Deletes jobs `ttlSecondsAfterFinished` after their end. */
export const ttlAfterFinishedController = defineController<Job, Observed, Action>({
  name: 'ttl-after-finished',
  owner: jobs,
  sources: { looksAt: isOnTheClock },
  observe: ({ nowMs }, job) => ({ job, nowMs }),
  plan,
  apply: {
    // The version is checked, because the TTL may have been extended. As in Kubernetes, its pods are deleted first.
    Delete: ({ writer }, { job }) =>
      writer.delete(jobs, job, { resourceVersion: job.metadata.resourceVersion, propagationPolicy: 'Foreground' }),
  },
})
