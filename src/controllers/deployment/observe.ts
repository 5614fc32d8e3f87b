import type { Deployment, Pod, ReplicaSet } from '../../api/generated/types.ts'
import { claim, compileLabelSelector, pods, replicasets } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { deadlineExceeded, findCondition, isPodFinished, untilDeadline } from '../kit/workload/index.ts'
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
  /** Pods of the new revision. Looked up only where they have to explain why time ran out. */
  latePods: readonly Pod[]
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
    latePods: newSet && isLate(deployment, nowMs) ? podsOf([newSet]) : [],
    nowMs,
  }
}

function isLate({ spec, status }: Deployment, nowMs: number): boolean {
  const progressing = findCondition(status?.conditions, 'Progressing')
  return progressing?.reason === deadlineExceeded || (untilDeadline(progressing, spec.progressDeadlineSeconds, nowMs) ?? 1) <= 0
}
