import type { ContainerStatus, Pod } from '../../../api/generated/types.ts'
import { deletionCostOf } from '../../../api/kinds/pods/pod-annotations.ts'
import { isPodActive } from '../../../api/kinds/pods/pod-availability.ts'
import { millisecondsOf } from '../../../api/object.ts'
import { soonest } from '../../../base/soonest.ts'

/** The number of active pods per node. Pods without a node are counted under ''. */
export function podsByNode(pods: Iterable<Pod>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const pod of pods) {
    if (!isPodActive(pod)) continue
    const node = pod.spec?.nodeName ?? ''
    counts.set(node, (counts.get(node) ?? 0) + 1)
  }
  return counts
}

/**
 * The facts that determine the deletion order of a pod. Facts that depend on the time are valid until
 * `rankChangesAtMs`.
 */
export interface Rank {
  uid: string
  isAssigned: boolean
  phase: number
  isReady: boolean
  cost: number
  neighbours: number
  ready: Age
  restarts: number
  sidecarRestarts: number
  created: Age
}

/** A time, and the exponent of the power of two below its age. A missing time sorts before all others. */
interface Age {
  atMs: number
  bucket: number
}

/**
 * Sorts pods in the order in which they are deleted: first unassigned pods, then by phase, not ready, lower deletion
 * cost, more pods of `onNodes` on the same node, ready later, more restarts, younger. Ages are compared by powers of
 * two, so that a scale-down does not delete only the pods of the last rollout.
 */
export function byDeletionRank(pods: readonly Pod[], onNodes: ReadonlyMap<string, number>, nowMs: number): Pod[] {
  const ranks = pods.map((pod) => ({ pod, rank: rankOf(pod, onNodes.get(pod.spec?.nodeName ?? '') ?? 0, nowMs) }))
  return ranks.sort((a, b) => compareRanks(a.rank, b.rank)).map(({ pod }) => pod)
}

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

/** Reads a pod whose node has this number of other pods. */
export function rankOf({ spec, status, metadata }: Pod, neighbours: number, nowMs: number): Rank {
  const ready = status?.conditions?.find((c) => c.type === 'Ready')
  const isReady = ready?.status === 'True'
  const sidecars = new Set(spec?.initContainers?.filter((c) => c.restartPolicy === 'Always').map((c) => c.name))
  return {
    uid: metadata.uid ?? '',
    isAssigned: Boolean(spec?.nodeName),
    phase: phases[status?.phase ?? ''] ?? 0,
    isReady,
    cost: deletionCostOf(metadata.annotations),
    neighbours,
    ready: isReady ? ageOf(millisecondsOf(ready.lastTransitionTime), nowMs) : ageless,
    restarts: mostRestarts(status?.containerStatuses),
    sidecarRestarts: sidecars.size
      ? mostRestarts(status?.initContainerStatuses?.filter((s) => sidecars.has(s.name)))
      : 0,
    created: ageOf(millisecondsOf(metadata.creationTimestamp), nowMs),
  }
}

const mostRestarts = (statuses: readonly ContainerStatus[] = []): number =>
  statuses.reduce((most, { restartCount }) => Math.max(most, restartCount), 0)

/** Negative if `a` is deleted before `b`. */
export function compareRanks(a: Rank, b: Rank): number {
  return (
    Number(a.isAssigned) - Number(b.isAssigned) ||
    a.phase - b.phase ||
    Number(a.isReady) - Number(b.isReady) ||
    a.cost - b.cost ||
    b.neighbours - a.neighbours ||
    compareAges(a, b, a.ready, b.ready) ||
    b.restarts - a.restarts ||
    b.sidecarRestarts - a.sidecarRestarts ||
    compareAges(a, b, a.created, b.created) ||
    byUid(a, b)
  )
}

/** The younger pod first. */
const compareAges = (a: Rank, b: Rank, ageOfA: Age, ageOfB: Age): number =>
  ageOfA.atMs === ageOfB.atMs ? 0 : ageOfA.bucket - ageOfB.bucket || byUid(a, b)

const byUid = (a: Rank, b: Rank): number => (a.uid < b.uid ? -1 : 1)

const ageless: Age = { atMs: Infinity, bucket: -2 }

const ageOf = (atMs: number, nowMs: number): Age =>
  Number.isNaN(atMs) ? ageless : { atMs, bucket: bucketOf(atMs, nowMs) }

// Kubernetes takes the logarithm of nanoseconds, which determines where a bucket ends.
const bucketOf = (atMs: number, nowMs: number): number =>
  nowMs > atMs ? Math.floor(Math.log2((nowMs - atMs) * 1e6)) : -1

/** The time at which the rank changes although the pod does not: one of its ages reaches the next power of two. */
export const rankChangesAtMs = ({ ready, created }: Rank): number | undefined =>
  soonest(bucketEndsAtMs(ready), bucketEndsAtMs(created))

function bucketEndsAtMs({ atMs, bucket }: Age): number | undefined {
  if (bucket === ageless.bucket) return undefined
  const endMs = atMs + (bucket < 0 ? 1 : Math.ceil(2 ** (bucket + 1) / 1e6))
  return bucketOf(atMs, endMs) > bucket ? endMs : endMs + 1
}
