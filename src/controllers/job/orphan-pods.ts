import { compareResourceVersions } from '../../api/resource-version.ts'
import type { Job, Pod } from '../../api/generated/types.ts'
import { controllerOf, jobs, pods, refersTo } from '../../client/index.ts'
import { type Caches, defineController, watching } from '../kit/index.ts'
import { letGo } from './apply.ts'
import { isFinished, isManagedElsewhere, isTracked } from './policies.ts'

/**
 * True if no controller will count this pod, so that its finalizer would stay forever: its Job is gone or finished, or
 * has released the pod.
 */
export function isForsaken(pod: Pod, jobNamed: (name: string) => Job | undefined): boolean {
  if (!isTracked(pod)) return false
  const owner = controllerOf(pod)
  if (!owner) return true
  if (!refersTo(owner, jobs)) return false
  const job = jobNamed(owner.name)
  return job?.metadata.uid !== owner.uid || (isFinished(job) && !isManagedElsewhere(job))
}

const jobNamed = (pod: Pod, caches: Caches) => (name: string) => caches.get(jobs, pod.metadata.namespace!, name)

/**
 * True if the pod cache is as new as the finished Job, which may have released this pod. Other Jobs of the same name
 * are not waited for: the pod cache may reach their version only with the next bookmark, a minute later.
 */
export function hasCaughtUp(pod: Pod, job: Job | undefined, podsVersion: string): boolean {
  if (job?.metadata.uid !== controllerOf(pod)?.uid) return true
  return compareResourceVersions(podsVersion, job?.metadata.resourceVersion ?? '') >= 0
}

interface Observed {
  isForsaken: boolean
  hasCaughtUp: boolean
}

/** Releases pods that a Job has left behind. */
export const orphanPodController = defineController<Pod, Observed, { kind: 'LetGo' }>({
  name: 'job-orphan-pod',
  owner: pods,
  sources: {
    looksAt: (pod, caches) => isForsaken(pod, jobNamed(pod, caches)),
    watches: [watching<Job>(jobs, podsLeftBy)],
  },
  timing: { workers: 1 },
  deletion: { isPlanned: true },
  observe: ({ caches }, pod) => {
    const find = jobNamed(pod, caches)
    const job = find(controllerOf(pod)?.name ?? '')
    const { lastSyncResourceVersion } = caches.of(pods)
    return { isForsaken: isForsaken(pod, find), hasCaughtUp: hasCaughtUp(pod, job, lastSyncResourceVersion) }
  },
  plan: (seen) => {
    if (!seen.isForsaken) return { actions: [] }
    return seen.hasCaughtUp
      ? { actions: [{ kind: 'LetGo' }] }
      : { actions: [], wait: 'the last that its Job did to be seen', requeueAfterMs: 1000 }
  },
  apply: { LetGo: ({ writer, owner }) => letGo(writer, owner) },
})

/** The keys of pods that a deleted or finished Job has not released. */
function* podsLeftBy(job: Job, caches: Caches): Generator<string> {
  const { namespace, name } = job.metadata
  const known = caches.get(jobs, namespace!, name!)
  if (known?.metadata.uid === job.metadata.uid && !isFinished(known!)) return
  for (const pod of caches.owned(pods, job)) if (isTracked(pod)) yield `${namespace}/${pod.metadata.name}`
}
