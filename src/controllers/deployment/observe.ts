import { type Cause, worstOf } from '../../api/explain/index.ts'
import type { Deployment, Pod, ReplicaSet } from '../../api/generated/types.ts'
import { claim, compileLabelSelector, pods, replicasets } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { soonest } from '../../base/soonest.ts'
import { causeReader, findersOf, isPodFinished } from '../kit/workload/index.ts'
import { isRollingUpdate } from './rolling.ts'
import { sortOut } from './replica-sets.ts'

/** The most severe cause among pods that are to stay, and among terminating pods. */
interface WorstCauses {
  staying: Cause | undefined
  going: Cause | undefined
  /** The time at which one of them changes by itself. */
  changesAtMs: number | undefined
}

export interface Observed {
  deployment: Deployment
  /** The ReplicaSet of the Deployment's template, if it exists. */
  newSet: ReplicaSet | undefined
  /** The other ReplicaSets of the Deployment, the oldest first. */
  oldSets: readonly ReplicaSet[]
  /** Matching ReplicaSets without a controller. */
  adopt: readonly ReplicaSet[]
  /** ReplicaSets of the Deployment that no longer match. */
  release: readonly ReplicaSet[]
  /** A pod of an old revision that may still run. Read for Recreate only. */
  oldPod: string | undefined
  /** The most severe causes among unavailable pods of the new revision. */
  newCauses: WorstCauses
  /** The same for old revisions that lack available pods, or whose pods a Recreate waits for. */
  oldCauses: WorstCauses
  nowMs: number
}

/** Reads the input of a plan. */
export function observe({ caches, nowMs, roster }: ObserveContext, deployment: Deployment): Observed {
  const candidates = [
    ...caches.owned(replicasets, deployment),
    ...caches.orphans(replicasets, deployment.metadata.namespace ?? '', deployment.spec.selector),
  ]
  const { kept, adopt, release } = claim(deployment, compileLabelSelector(deployment.spec.selector), candidates)
  const { newSet, oldSets } = sortOut(deployment, kept)
  const { minReadySeconds = 0 } = deployment.spec
  const reader = causeReader({ minReadySeconds, ...findersOf(caches, deployment.metadata.namespace ?? '') })
  const causesIn = (sets: readonly ReplicaSet[]): WorstCauses => {
    const rosters = sets.map((set) => roster(set.metadata.uid ?? '', reader, nowMs))
    return {
      staying: worstOf(rosters.map(({ tally }) => tally.staying.peek())),
      going: worstOf(rosters.map(({ tally }) => tally.going.peek())),
      changesAtMs: soonest(...rosters.map(({ changesAtMs }) => changesAtMs)),
    }
  }
  const podsOf = (sets: readonly ReplicaSet[]): Pod[] => sets.flatMap((set) => caches.owned(pods, set))
  return {
    deployment,
    newSet,
    oldSets,
    adopt,
    release,
    oldPod: isRollingUpdate(deployment) ? undefined : podsOf(oldSets).find((pod) => !isPodFinished(pod))?.metadata.name,
    newCauses: causesIn(newSet && isShort(newSet) ? [newSet] : []),
    oldCauses: causesIn(oldSets.filter((set) => isShort(set) || (!isRollingUpdate(deployment) && hasPods(set)))),
    nowMs,
  }
}

/** True for a ReplicaSet with fewer available pods than desired. */
const isShort = ({ spec, status }: ReplicaSet): boolean => (status?.availableReplicas ?? 0) < (spec?.replicas ?? 1)

const hasPods = ({ status }: ReplicaSet): boolean => (status?.replicas ?? 0) + (status?.terminatingReplicas ?? 0) > 0
