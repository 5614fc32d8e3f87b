import type { Job, JobStatus, Pod } from '../../../src/api/generated/types.ts'
import { controllerOf, jobs, pods } from '../../../src/client/index.ts'
import { isConditionTrue, isPodActive, isPodFinished, isPodTerminating } from '../../../src/controllers/kit/workload/index.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import type { Change } from '../truth.ts'
import type { World } from '../world.ts'
import { troubleOf } from './troubles.ts'

const finalizer = 'batch.kubernetes.io/job-tracking'
const isTracked = (pod: Pod | undefined): boolean => pod?.metadata.finalizers?.includes(finalizer) ?? false
const indexOf = (pod: Pod): number => Number(pod.metadata.annotations!['batch.kubernetes.io/job-completion-index'])
const isIndexed = (job: Job): boolean => job.spec.completionMode === 'Indexed'
const isOver = ({ status }: Job): boolean => isConditionTrue(status.conditions, 'Complete') || isConditionTrue(status.conditions, 'Failed')
const uncounted = (status: JobStatus | undefined): string[] => [
  ...(status?.uncountedTerminatedPods?.succeeded ?? []),
  ...(status?.uncountedTerminatedPods?.failed ?? []),
]
const countOf = (status: JobStatus | undefined): number => (status?.succeeded ?? 0) + (status?.failed ?? 0)

function indexesIn(text = ''): Set<number> {
  const indexes = new Set<number>()
  for (const part of text ? text.split(',') : []) {
    const [first, last = first] = part.split('-').map(Number) as [number, number?]
    for (let i = first; i <= last; i++) indexes.add(i)
  }
  return indexes
}

/** The Job that manages a pod, as it is at the moment. */
function jobOf(world: World, pod: Pod): Job | undefined {
  const owner = controllerOf(pod)
  const job = owner && (world.truth.get(jobs.plural, `${pod.metadata.namespace}/${owner.name}`) as Job | undefined)
  return job?.metadata.uid === owner?.uid ? job : undefined
}

/** A pod that has ended is let go only when its Job's status has it on record. */
const endsAreOnRecord = (): Invariant => ({
  name: 'no pod is let go whose end is not on record',
  changed({ plural, before, after }: Change, world): Verdict {
    const pod = before as Pod | undefined
    if (plural !== pods.plural || !pod || !isTracked(pod) || isTracked(after as Pod | undefined)) return undefined
    const job = jobOf(world, pod)
    if (!job || isOver(job) || !(isPodFinished(pod) || isPodTerminating(pod))) return undefined
    const isKnown = uncounted(job.status).includes(pod.metadata.uid!) || (isIndexed(job) && indexesIn(job.status.completedIndexes).has(indexOf(pod)))
    return isKnown ? undefined : `${pod.metadata.name} (${pod.status.phase}) is let go, and ${job.metadata.name} says nothing of it`
  },
})

/** Every Job counts as many as it strikes off its record, each of them once, and only when it has let go of them. */
function countsAreExact(): Invariant {
  /** Uids that were on record, by Job. */
  const recorded = new Map<string, Set<string>>()
  return {
    name: 'every pod is counted once',
    changed({ plural, before, after }: Change, world): Verdict {
      if (plural !== jobs.plural || !after || before?.metadata.uid !== after.metadata.uid) return undefined
      const { name, uid } = after.metadata
      const [was, is] = [(before as Job).status, (after as Job).status]
      const [old, next] = [new Set(uncounted(was)), new Set(uncounted(is))]
      const known = recorded.get(uid!) ?? new Set()
      recorded.set(uid!, known)
      for (const pod of next) {
        if (old.has(pod)) continue
        if (known.has(pod)) return `${name} puts ${pod} on record for the second time`
        known.add(pod)
      }
      const struck = [...old].filter((pod) => !next.has(pod))
      const held = world.truth.list(pods.plural).find((p) => struck.includes(p.metadata.uid!) && isTracked(p as Pod))
      if (held) return `${name} counts ${held.metadata.name}, which it has not let go`
      const more = isIndexed(after as Job) ? (is.failed ?? 0) - (was?.failed ?? 0) : countOf(is) - countOf(was)
      return more === struck.length ? undefined : `${name} strikes off ${struck.length} pods and counts ${more} more`
    },
    unfinished(world): Verdict {
      for (const job of world.truth.list(jobs.plural) as Job[]) {
        const { name, uid } = job.metadata
        if (uncounted(job.status).length > 0) return `${name} has pods on record that it does not count`
        const total = isIndexed(job) ? (job.status.failed ?? 0) : countOf(job.status)
        if (total !== (recorded.get(uid!)?.size ?? 0)) return `${name} counts ${total} of ${recorded.get(uid!)?.size} pods`
      }
      return undefined
    },
  }
}

/** In the end every Job is over, or rests because it is suspended; its status tells the truth, and no pod is held for nothing. */
const jobsEnd = (): Invariant => ({
  name: 'every job comes to its end',
  unfinished(world): Verdict {
    const all = world.truth.list(pods.plural) as Pod[]
    for (const job of world.truth.list(jobs.plural) as Job[]) {
      const { name, uid } = job.metadata
      const { status } = job
      const isStuck = troubleOf(job.spec.template.spec) !== undefined
      if (!isOver(job) && !job.spec.suspend && !isStuck) return `${name} is not over`
      const own = all.filter((pod) => controllerOf(pod)?.uid === uid)
      if (!isOver(job) && isStuck && !job.spec.suspend) {
        const left = Math.min(job.spec.parallelism ?? 1, (job.spec.completions ?? 1) - (status.succeeded ?? 0))
        if (status.active === left) continue
        return `${name} has ${status.active} pods, and is to have ${left}`
      }
      if (!isOver(job) && status.active) return `${name} is suspended and has ${status.active} active pods`
      if (!isOver(job) && own.some(isPodActive)) return `${name} is suspended and pods of it run`
      if (isConditionTrue(status.conditions, 'Complete') && status.succeeded !== job.spec.completions) return `${name} is complete with ${status.succeeded}`
      if (isIndexed(job) && indexesIn(status.completedIndexes).size !== (status.succeeded ?? 0)) return `${name} has other indexes than successes`
      if (isConditionTrue(status.conditions, 'Running') && (isOver(job) || !own.some((p) => p.status.phase === 'Running'))) return `${name} says that it runs`
      if (isConditionTrue(status.conditions, 'Waiting') === isOver(job)) return `${name} says the wrong thing about waiting`
    }
    // A pod that cannot start is held for as long as its Job is there and waits for it.
    const open = (world.truth.list(jobs.plural) as Job[]).filter((job) => !isOver(job))
    const waiting = new Set(open.map((job) => job.metadata.uid))
    const isWaitedFor = (pod: Pod) => troubleOf(pod.spec) && isPodActive(pod) && waiting.has(controllerOf(pod)?.uid)
    const held = all.find((pod) => isTracked(pod) && !isWaitedFor(pod))
    if (held) return `${held.metadata.name} is still held`
    const running = all.find((pod) => !isPodFinished(pod) && !(troubleOf(pod.spec) && isPodActive(pod)))
    return running && `${running.metadata.name} has not ended`
  },
})

export const jobRules = (): Invariant[] => [endsAreOnRecord(), countsAreExact(), jobsEnd()]
