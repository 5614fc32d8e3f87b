import type { Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { isPodAvailable, isPodReady, staysWhenDeleted } from '../kit/workload/index.ts'
import type { Observed } from './observe.ts'
import type { Place } from './places.ts'
import type { Action } from './plan.ts'

export interface Counts {
  desiredNumberScheduled: number
  currentNumberScheduled: number
  numberMisscheduled: number
  numberReady: number
  numberAvailable: number
  numberUnavailable: number
  updatedNumberScheduled: number
}

/** The numbers of a set's status: nodes, each by the first of its pods. */
export function countNodes({ set, revision, nowMs }: Observed, places: readonly Place[]): Counts {
  const minReadySeconds = set.spec.minReadySeconds ?? 0
  let [desired, current, misscheduled, ready, available, updated] = [0, 0, 0, 0, 0, 0]
  for (const { fit, pods } of places) {
    const [pod] = pods
    if (fit === 'gone') continue
    if (fit === 'run') desired++
    if (!pod) continue
    if (fit !== 'run') {
      misscheduled++
      continue
    }
    current++
    if (isPodReady(pod)) ready++
    if (isPodAvailable(pod, minReadySeconds, nowMs)) available++
    if (revision.has(pod)) updated++
  }
  return {
    desiredNumberScheduled: desired,
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    numberReady: ready,
    numberAvailable: available,
    numberUnavailable: desired - available,
    updatedNumberScheduled: updated,
  }
}

/** Places as they are after a step: what was made counts at once, and what was deleted is gone unless its node has to end it first. */
export function placesAfter(places: readonly Place[], { done, answers }: Outcome<Action>): readonly Place[] {
  const made = new Map<string, Pod>()
  const gone = new Set<Pod>()
  for (const action of done) {
    const answer = answers?.get(action) as Pod | undefined
    if (action.kind === 'CreatePod' && answer) made.set(action.node, answer)
    else if (action.kind === 'DeletePod' && !staysWhenDeleted(action.pod)) gone.add(action.pod)
  }
  if (made.size + gone.size === 0) return places
  return places.map((place) => {
    const pod = made.get(place.node)
    const kept = gone.size > 0 ? place.pods.filter((p) => !gone.has(p)) : place.pods
    return { ...place, pods: pod ? [...kept, pod] : kept }
  })
}
