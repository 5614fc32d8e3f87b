import type { Job, Pod } from '../../api/generated/types.ts'
import { claim, compileLabelSelector, pods as podType } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { type Finders, findersOf } from '../kit/workload/index.ts'
import { type BackOff, backOffAfter, recoverBackOff } from './back-off.ts'
import { type Goal, goalOf } from './goal.ts'
import { type Tally, tallyOf } from './tally.ts'

export interface Observed {
  job: Job
  /** Its own. */
  pods: readonly Pod[]
  /** Pods that it selects and nobody manages. */
  strays: readonly Pod[]
  /** Its own that it no longer selects. */
  strangers: readonly Pod[]
  tally: Tally
  goal: Goal | undefined
  backOff: BackOff
  finders?: Finders
  nowMs: number
}

/** What the caches say of a Job. */
export function observe({ caches, nowMs, remembered }: ObserveContext, job: Job): Observed {
  const candidates = [...caches.owned(podType, job), ...caches.orphans(podType, job.metadata.namespace!)]
  const { kept, adopt, release } = claim(job, compileLabelSelector(job.spec.selector), candidates)
  return {
    ...judge(job, kept, nowMs, remembered as BackOff | undefined), strays: adopt, strangers: release,
    finders: findersOf(caches, job.metadata.namespace!),
  }
}

/** What follows from the pods of a Job. */
export function judge(job: Job, pods: readonly Pod[], nowMs: number, remembered?: BackOff): Omit<Observed, 'strays' | 'strangers'> {
  const tally = tallyOf(job, pods)
  const before = remembered ?? recoverBackOff(pods, (pod) => tally.written.has(pod.metadata.uid!))
  const backOff = backOffAfter(before, tally.newlySucceeded, tally.newlyFailed)
  return { job, pods, tally, goal: goalOf({ job, pods, tally, nowMs }), backOff, nowMs }
}
