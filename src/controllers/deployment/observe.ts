import type { Deployment, Node, Pod, ReplicaSet } from '../../api/generated/types.ts'
import { claim, compileLabelSelector, pods, replicasets } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { isPodFinished, nodeFinder } from '../kit/workload/index.ts'
import { isRollingUpdate } from './bounds.ts'
import { sortOut } from './replica-sets.ts'

export interface Observed {
  deployment: Deployment
  /** The ReplicaSet of the Deployment's template, if it exists. */
  newSet: ReplicaSet | undefined
  /** The others that are the Deployment's, the oldest first. */
  oldSets: readonly ReplicaSet[]
  /** ReplicaSets without a manager that match. */
  adopt: readonly ReplicaSet[]
  /** Its own that do not match any more. */
  release: readonly ReplicaSet[]
  /** A pod of an old revision that may still run. Only a Recreate asks for it. */
  oldPod: string | undefined
  /** Pods of the new revision, where not all of them are available: they explain what the rollout waits for. */
  latePods: readonly Pod[]
  /** Pods of old revisions, where too few pods are available, or a Recreate waits for them to go. */
  oldPods: readonly Pod[]
  nodeOf?: ((name: string) => Node | undefined) | undefined
  nowMs: number
}

/** Reads what a plan needs. */
export function observe({ caches, nowMs }: ObserveContext, deployment: Deployment): Observed {
  const candidates = [...caches.owned(replicasets, deployment), ...caches.orphans(replicasets, deployment.metadata.namespace ?? '')]
  const { kept, adopt, release } = claim(deployment, compileLabelSelector(deployment.spec.selector), candidates)
  const { newSet, oldSets } = sortOut(deployment, kept)
  const podsOf = (sets: readonly ReplicaSet[]): Pod[] => sets.flatMap((set) => caches.owned(pods, set))
  return {
    deployment,
    newSet,
    oldSets,
    adopt,
    release,
    oldPod: isRollingUpdate(deployment) ? undefined : podsOf(oldSets).find((pod) => !isPodFinished(pod))?.metadata.name,
    latePods: newSet && isShort(newSet) ? podsOf([newSet]) : [],
    oldPods: isRollingUpdate(deployment) && !oldSets.some(isShort) ? [] : podsOf(oldSets),
    nodeOf: nodeFinder(caches),
    nowMs,
  }
}

/** Whether a ReplicaSet has fewer available pods than it is to have. */
const isShort = ({ spec, status }: ReplicaSet): boolean => (status?.availableReplicas ?? 0) < (spec?.replicas ?? 1)
