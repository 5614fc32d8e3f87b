import type { Job, Pod } from '../../api/generated/types.ts'
import { claim, compileLabelSelector, pods as podType } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { type Finders, findersOf } from '../kit/workload/index.ts'
import { noBackOff } from '../../api/kinds/workloads/job-back-off.ts'
import { type BackOff, backOffAfter, isFinished, isManagedElsewhere, recoverBackOff } from './policies.ts'
import { type Goal, type Tally, goalOf, tallyOf } from './goal.ts'
import { JobPods, jobPodsReader } from './job-pods.ts'
import { type Basis, hasLimitPerIndex } from './member.ts'

export interface Observed {
  job: Job
  /** The pods of the Job. */
  pods: JobPods
  /** Selected pods without a controller. */
  strays: readonly Pod[]
  /** Own pods that the Job no longer selects. */
  strangers: readonly Pod[]
  tally: Tally
  goal: Goal | undefined
  /** Without and with the pods that the status does not contain yet. */
  backOffBefore: BackOff
  backOff: BackOff
  /** The time at which the next pod is late, without an event. */
  changesAtMs: number | undefined
  nowMs: number
  finders?: Finders | undefined
}

/** Reads the input of a reconcile from caches. */
export function observe(ctx: ObserveContext, job: Job): Observed {
  const { caches, nowMs } = ctx
  const { namespace = '', uid = '' } = job.metadata
  // A finished or externally managed Job needs no action, so its pods are not read.
  if (isFinished(job) || isManagedElsewhere(job)) {
    return { ...judge(job, new JobPods(job), () => [], nowMs), strays: [], strangers: [], changesAtMs: undefined }
  }
  const matches = compileLabelSelector(job.spec.selector)
  const basis: Basis = { job, matches, finders: findersOf(caches, namespace) }
  const { tally: pods, members, changesAtMs } = ctx.roster(uid, jobPodsReader(basis), nowMs)
  const orphans = caches.orphans(podType, namespace, job.spec.selector)
  const { adopt, release } = claim(job, matches, [...pods.strangers.values(), ...orphans])
  const own = () => [...members.values()].flatMap(({ pod, isStranger }) => (isStranger ? [] : [pod]))
  const judged = judge(job, pods.know(job.status), own, nowMs, ctx.remembered as BackOff | undefined)
  return { ...judged, strays: adopt, strangers: release, changesAtMs, finders: basis.finders }
}

/** Computes the state of a Job from its pods. `all` contains the same pods in any order. */
export function judge(
  job: Job,
  pods: JobPods,
  all: () => readonly Pod[],
  nowMs: number,
  remembered?: BackOff,
): Omit<Observed, 'strays' | 'strangers' | 'changesAtMs'> {
  const tally = tallyOf(job, pods)
  const isCounted = (pod: Pod) => tally.written.has(pod.metadata.uid!)
  const backOffBefore = hasLimitPerIndex(job) ? noBackOff : (remembered ?? recoverBackOff(all(), isCounted))
  const backOff = backOffAfter(backOffBefore, podsOf(tally.newlySucceeded), podsOf(tally.newlyFailed))
  return { job, pods, tally, goal: goalOf({ job, pods, tally, nowMs }), backOffBefore, backOff, nowMs }
}

const podsOf = (members: readonly { pod: Pod }[]): Pod[] => members.map(({ pod }) => pod)
