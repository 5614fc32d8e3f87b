import type { Pod, PodDisruptionBudget } from '../../api/generated/types.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import {
  type ResourceType,
  controllerOf,
  deployments,
  refersTo,
  replicasets,
  replicationcontrollers,
  statefulsets,
} from '../../client/index.ts'
import type { Caches, ObserveContext } from '../kit/index.ts'
import { isPodReady, isPodTerminating, millisecondsOf, selectedPods } from '../kit/workload/index.ts'
import { type Scale, dependsOnScale, managersOf } from './expected.ts'

/** A pod whose eviction was granted is deleted within this time, or counts as staying. */
const deletionTimeoutMs = 120_000

/** Granted evictions that have not been observed yet. */
export interface Disrupted {
  /** The names of pods that will be deleted, and the time of the grant. */
  expected: Record<string, string>
  /** Pods that should have been deleted. */
  overdue: Pod[]
  /** The time at which the next of them is overdue. */
  recheckAtMs: number | undefined
}

/** The granted evictions that are not observed yet. Evictions of deleted or terminating pods have been observed. */
export function disruptedOf(
  pods: readonly Pod[],
  granted: Readonly<Record<string, string>> | undefined,
  nowMs: number,
): Disrupted {
  const result: Disrupted = { expected: {}, overdue: [], recheckAtMs: undefined }
  if (!granted) return result
  for (const pod of pods) {
    const name = pod.metadata.name ?? ''
    const time = Object.hasOwn(granted, name) ? granted[name] : undefined
    if (time === undefined || isPodTerminating(pod)) continue
    const dueMs = millisecondsOf(time) + deletionTimeoutMs
    if (dueMs <= nowMs) result.overdue.push(pod)
    else {
      result.expected[name] = time
      result.recheckAtMs = Math.min(result.recheckAtMs ?? dueMs, dueMs)
    }
  }
  return result
}

/** The number of healthy pods that are expected to stay. */
export const healthyPods = (pods: readonly Pod[], { expected }: Disrupted): number =>
  pods.filter((pod) => !isPodTerminating(pod) && isPodReady(pod) && !Object.hasOwn(expected, pod.metadata.name ?? ''))
    .length

export interface Observed {
  budget: PodDisruptionBudget
  pods: Pod[]
  /** By the UID in the owner reference. Undefined for a missing object. */
  scales: Map<string, Scale | undefined>
  /** Controllers of a kind that is not cached, which the server is asked for. */
  unknown: OwnerReference[]
  nowMs: number
}

export function observe({ caches, nowMs }: ObserveContext, budget: PodDisruptionBudget): Observed {
  const namespace = budget.metadata.namespace ?? ''
  const pods = selectedPods(caches, namespace, budget.spec.selector)
  const scales: Observed['scales'] = new Map()
  const unknown: OwnerReference[] = []
  for (const ref of dependsOnScale(budget.spec) ? managersOf(pods) : []) {
    if (isCached(ref)) scales.set(ref.uid, cachedScale(caches, namespace, ref))
    else unknown.push(ref)
  }
  return { budget, pods, scales, unknown, nowMs }
}

type Scalable = KubeObject & { spec?: { replicas?: number } }

const cachedTypes: readonly ResourceType<Scalable>[] = [replicasets, statefulsets, replicationcontrollers]

const isCached = (ref: OwnerReference): boolean => cachedTypes.some((type) => refersTo(ref, type))

function cachedScale(caches: Caches, namespace: string, ref: OwnerReference): Scale | undefined {
  const type = cachedTypes.find((t) => refersTo(ref, t))!
  const manager = caches.get(type, namespace, ref.name)
  if (manager?.metadata.uid !== ref.uid) return undefined
  const above = type === (replicasets as ResourceType<Scalable>) ? controllerOf(manager) : undefined
  if (above?.kind !== deployments.kind) return scaleOf(manager)
  if (!refersTo(above, deployments)) return undefined
  const deployment = caches.get(deployments, namespace, above.name)
  return deployment?.metadata.uid === above.uid ? scaleOf(deployment) : undefined
}

const scaleOf = ({ metadata, spec }: Scalable): Scale => ({ uid: metadata.uid ?? '', replicas: spec?.replicas ?? 1 })
