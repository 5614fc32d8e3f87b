import type { CronJobStatus, Job, ObjectReference } from '../../api/generated/types.ts'
import { apiVersionOf, jobs } from '../../client/index.ts'
import type { Outcome } from '../kit/index.ts'
import { timestamp } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { type Derived, endOf } from './derive.ts'

/** The running jobs, and the times of the last start and the last success. */
export function status({ cronJob, reckoning }: Derived, { done, answers }: Outcome<Action>): CronJobStatus {
  const { active, lastSuccessfulTime } = reckoning
  const replaced = new Set(done.filter((a) => a.kind === 'DeleteReplaced').map((a) => a.job.metadata.uid))
  const remaining = active.filter((ref) => !replaced.has(ref.uid))
  let { lastScheduleTime } = cronJob.status ?? {}
  for (const action of done) {
    if (action.kind !== 'StartJob' && action.kind !== 'RecordJob') continue
    // Undefined if a job of another owner has the name.
    const job = answers?.get(action) as Job | undefined
    if (!job) continue
    if (!endOf(job)) remaining.push(referenceTo(job))
    lastScheduleTime = timestamp(action.dueMs)
  }
  return {
    ...(remaining.length ? { active: remaining } : {}),
    ...(lastScheduleTime ? { lastScheduleTime } : {}),
    ...(lastSuccessfulTime ? { lastSuccessfulTime } : {}),
  }
}

function referenceTo({ metadata: { name, namespace, uid, resourceVersion } }: Job): ObjectReference {
  return { apiVersion: apiVersionOf(jobs), kind: jobs.kind, name, namespace, uid, resourceVersion } as ObjectReference
}
