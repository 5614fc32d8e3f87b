import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { controllerOf, hasFinalizer, pods, refersTo, statefulsets } from '../../client/index.ts'
import { type Caches, defineController, watching } from '../kit/index.ts'
import { releasePod } from './apply.ts'
import { settingsOf } from './settings.ts'
import { podFinalizer } from './stage.ts'

/** Whether a pod was kept for a decision that nobody will take: its set is gone or going, has let go of it, or asks for nothing any more. */
export function isForsaken(pod: Pod, setNamed: (name: string) => StatefulSet | undefined): boolean {
  if (!hasFinalizer(pod, podFinalizer)) return false
  const owner = controllerOf(pod)
  const set = owner && refersTo(owner, statefulsets) ? setNamed(owner.name) : undefined
  return !set || set.metadata.uid !== owner?.uid || set.metadata.deletionTimestamp !== undefined || settingsOf(set).kind !== 'on'
}

const setNamed = (pod: Pod, caches: Caches) => (name: string) => caches.get(statefulsets, pod.metadata.namespace ?? '', name)

/** Lets go of pods that were kept for a decision, when nobody is there to take it. Their claims stay. */
export const forsakenPodController = defineController<Pod, boolean, { kind: 'Release' }>({
  name: 'claim-recovery-release',
  owner: pods,
  looksAt: (pod, caches) => isForsaken(pod, setNamed(pod, caches)),
  watches: [watching<StatefulSet>(statefulsets, podsKeptFor)],
  workers: 1,
  plansDeletion: true,
  observe: ({ caches }, pod) => isForsaken(pod, setNamed(pod, caches)),
  plan: (isOver) => ({ actions: isOver ? [{ kind: 'Release' }] : [] }),
  apply: { Release: ({ writer, owner }) => releasePod(writer, owner) },
})

function* podsKeptFor(set: StatefulSet, caches: Caches): Generator<string> {
  for (const pod of caches.owned(pods, set)) if (hasFinalizer(pod, podFinalizer)) yield `${pod.metadata.namespace}/${pod.metadata.name}`
}
