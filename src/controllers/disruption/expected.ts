import type { Pod, PodDisruptionBudgetSpec } from '../../api/generated/types.ts'
import { percentOf } from '../../api/int-or-string.ts'
import type { OwnerReference } from '../../api/object.ts'
import { controllerOf } from '../../client/index.ts'

/** What manages a pod and how many pods it wants; `failure` says why that cannot be told. */
export type Scale = { uid: string; replicas: number } | { failure: string }

/** Finds what manages pods. Undefined: it is not there. */
export type FindScale = (ref: OwnerReference) => Scale | undefined

/** How many pods a budget is about and how many of them must stay healthy. */
export interface Expectation {
  expectedPods: number
  desiredHealthy: number
  /** Names of pods that nothing manages: nobody knows how many there should be. */
  unmanaged: string[]
}

/** Whether a budget depends on how many pods are wanted, and not merely on how many there are. */
export const dependsOnScale = ({ minAvailable, maxUnavailable }: PodDisruptionBudgetSpec): boolean =>
  maxUnavailable !== undefined || typeof minAvailable === 'string'

/** The references to what manages these pods, each once. */
export function managersOf(pods: readonly Pod[]): OwnerReference[] {
  const byUid = new Map<string, OwnerReference>()
  for (const pod of pods) {
    const ref = controllerOf(pod)
    if (ref) byUid.set(ref.uid, ref)
  }
  return [...byUid.values()]
}

/** Counts what a budget is about; the text of a failure if that cannot be done. */
export function expectationOf(spec: PodDisruptionBudgetSpec, pods: readonly Pod[], find: FindScale): Expectation | { failure: string } {
  const { minAvailable, maxUnavailable } = spec
  if (!dependsOnScale(spec)) {
    if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0, unmanaged: [] }
    return { expectedPods: pods.length, desiredHealthy: minAvailable as number, unmanaged: [] }
  }
  const wanted = wantedPods(pods, find)
  if ('failure' in wanted) return wanted
  const { expectedPods, unmanaged } = wanted
  try {
    const desiredHealthy =
      maxUnavailable === undefined
        ? percentOf(minAvailable!, expectedPods, true)
        : Math.max(0, expectedPods - percentOf(maxUnavailable, expectedPods, true))
    return { expectedPods, desiredHealthy, unmanaged }
  } catch (e) {
    return { failure: (e as Error).message }
  }
}

/** The sum of what the managers of these pods want, each counted once. */
function wantedPods(pods: readonly Pod[], find: FindScale): Pick<Expectation, 'expectedPods' | 'unmanaged'> | { failure: string } {
  const unmanaged: string[] = []
  const known = new Set<string>()
  const wanted = new Map<string, number>()
  for (const pod of pods) {
    const ref = controllerOf(pod)
    if (!ref) unmanaged.push(pod.metadata.name ?? '')
    else if (!known.has(ref.uid)) {
      known.add(ref.uid)
      const scale = find(ref) ?? { failure: `found no controllers for pod ${JSON.stringify(pod.metadata.name)}` }
      if ('failure' in scale) return scale
      // By the manager's own uid: several ReplicaSets of a Deployment count once.
      wanted.set(scale.uid, scale.replicas)
    }
  }
  return { expectedPods: [...wanted.values()].reduce((sum, n) => sum + n, 0), unmanaged }
}
