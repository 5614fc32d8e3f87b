import type { Deployment, ReplicaSet } from '../../api/generated/types.ts'
import { replicasOf } from './bounds.ts'
import { byRevision } from './replica-sets.ts'

/** What a limit that means none is defaulted to. */
const noLimit = 2_147_483_647

/** Old ReplicaSets beyond the history that is kept, the oldest revisions first. One that still has pods, or has not heard of its size, stays. */
export function surplusSets({ spec }: Deployment, oldSets: readonly ReplicaSet[]): ReplicaSet[] {
  const limit = spec.revisionHistoryLimit
  if (limit === undefined || limit === noLimit) return []
  const there = oldSets.filter((set) => !set.metadata.deletionTimestamp).toSorted(byRevision)
  return there.slice(0, Math.max(0, there.length - limit)).filter(isIdle)
}

const isIdle = ({ spec, status, metadata }: ReplicaSet): boolean =>
  replicasOf({ spec }) === 0 && (status?.replicas ?? 0) === 0 && (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0)
