import type { Job, Pod } from '../../api/generated/types.ts'
import { controllerOf, jobs, pods, refersTo } from '../../client/index.ts'
import { type Caches, defineController, watching } from '../kit/index.ts'
import { letGo } from './apply.ts'
import { isFinished, isManagedElsewhere, isTracked } from './tracking.ts'

/** Whether nobody will ever count this pod, so that its finalizer would keep it for ever: its Job is gone or over, or has let go of it. */
export function isForsaken(pod: Pod, jobNamed: (name: string) => Job | undefined): boolean {
  if (!isTracked(pod)) return false
  const owner = controllerOf(pod)
  if (!owner) return true
  if (!refersTo(owner, jobs)) return false
  const job = jobNamed(owner.name)
  return job?.metadata.uid !== owner.uid || (isFinished(job) && !isManagedElsewhere(job))
}

const isForsakenIn = (pod: Pod, caches: Caches): boolean => isForsaken(pod, (name) => caches.get(jobs, pod.metadata.namespace!, name))

/** Lets go of pods that a Job has left behind. */
export const orphanPodController = defineController<Pod, boolean, { kind: 'LetGo' }>({
  name: 'job-orphan-pod',
  owner: pods,
  looksAt: isForsakenIn,
  watches: [watching<Job>(jobs, function* (job, caches) {
    const { namespace, name } = job.metadata
    const known = caches.get(jobs, namespace!, name!)
    if (known?.metadata.uid === job.metadata.uid && !isFinished(known!)) return
    for (const pod of caches.owned(pods, job)) if (isTracked(pod)) yield `${namespace}/${pod.metadata.name}`
  })],
  workers: 1,
  observe: ({ caches }, pod) => isForsakenIn(pod, caches),
  plan: (isLeft) => ({ actions: isLeft ? [{ kind: 'LetGo' }] : [] }),
  apply: { LetGo: ({ writer, owner }) => letGo(writer, owner) },
  plansDeletion: true,
})
