import { isNotFound } from '../../api/errors.ts'
import type { Pod, PodDisruptionBudgetSpec } from '../../api/generated/types.ts'
import { percentOf } from '../../api/numbers/int-or-string.ts'
import type { OwnerReference } from '../../api/object.ts'
import { controllerOf } from '../../client/index.ts'

interface Discovered {
  resources: readonly { name: string; kind: string }[]
}

interface ScaleObject {
  metadata: { uid?: string }
  spec?: { replicas?: number }
}

/**
 * Reads the desired number of pods from the scale subresource of an object that is not cached. Undefined if it does not
 * exist.
 */
export async function askScale(
  ask: <T>(path: string) => Promise<T>,
  namespace: string,
  ref: OwnerReference,
): Promise<Scale | undefined> {
  const { apiVersion, kind, name, uid } = ref
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const resources = (await orUndefined(ask<Discovered>(root)))?.resources ?? []
  const resource = resources.find((r) => r.kind === kind && !r.name.includes('/'))?.name
  if (!resource) {
    return { failure: `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}` }
  }
  if (!resources.some((r) => r.name === `${resource}/scale`)) {
    const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : ''
    return { failure: `${resource}${group} does not implement the scale subresource` }
  }
  const path = `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}/scale`
  const scale = await orUndefined(ask<ScaleObject>(path))
  return scale?.metadata.uid === uid ? { uid, replicas: scale.spec?.replicas ?? 0 } : undefined
}

async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (e) {
    if (isNotFound(e)) return undefined
    throw e
  }
}

/** The controller of pods and its desired number. `failure` is the reason why it is unknown. */
export type Scale = { uid: string; replicas: number } | { failure: string }

/** Finds the scale of a pod's controller. Undefined if it does not exist. */
export type FindScale = (ref: OwnerReference) => Scale | undefined

/** The number of pods that a budget covers, and how many must stay healthy. */
export interface Expectation {
  expectedPods: number
  desiredHealthy: number
  /** Names of pods without a controller, whose desired number is unknown. */
  unmanaged: string[]
}

/** Reports whether a budget depends on the desired number of pods, not only on the existing ones. */
export const dependsOnScale = ({ minAvailable, maxUnavailable }: PodDisruptionBudgetSpec): boolean =>
  maxUnavailable !== undefined || typeof minAvailable === 'string'

/** The owner references to the controllers of these pods, each once. */
export function managersOf(pods: readonly Pod[]): OwnerReference[] {
  const byUid = new Map<string, OwnerReference>()
  for (const pod of pods) {
    const ref = controllerOf(pod)
    if (ref) byUid.set(ref.uid, ref)
  }
  return [...byUid.values()]
}

/** Computes the expected numbers, or the message of a failure. */
export function expectationOf(
  spec: PodDisruptionBudgetSpec,
  pods: readonly Pod[],
  find: FindScale,
): Expectation | { failure: string } {
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

/** The sum of the desired numbers of the pods' controllers. */
function wantedPods(
  pods: readonly Pod[],
  find: FindScale,
): Pick<Expectation, 'expectedPods' | 'unmanaged'> | { failure: string } {
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
      // By the UID of the scale: several ReplicaSets of a Deployment count once.
      wanted.set(scale.uid, scale.replicas)
    }
  }
  return { expectedPods: [...wanted.values()].reduce((sum, n) => sum + n, 0), unmanaged }
}
