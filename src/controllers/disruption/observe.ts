import type { Pod, PodDisruptionBudget } from '../../api/generated/types.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { type ResourceType, controllerOf, deployments, refersTo, replicasets, replicationcontrollers, statefulsets } from '../../client/index.ts'
import type { Caches, ObserveContext } from '../kit/index.ts'
import { selectedPods } from '../kit/workload/index.ts'
import { type Scale, dependsOnScale, managersOf } from './expected.ts'

export interface Observed {
  budget: PodDisruptionBudget
  pods: Pod[]
  /** By the uid that pods refer to; undefined for what is not there. */
  scales: Map<string, Scale | undefined>
  /** Managers of a kind that is not cached: the server is to be asked. */
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
