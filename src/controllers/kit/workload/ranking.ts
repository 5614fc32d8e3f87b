import type { ContainerStatus, Pod } from '../../../api/generated/types.ts'
import { deletionCostOf } from '../../../api/kinds/pod-annotations.ts'
import { isPodActive } from '../../../api/kinds/pod-availability.ts'
import { millisecondsOf } from '../../../api/timestamp.ts'
import { soonest } from '../../../base/soonest.ts'

/** How many active pods there are on each node. Those without a node are together under ''. */
export function podsByNode(pods: Iterable<Pod>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const pod of pods) {
    if (!isPodActive(pod)) continue
    const node = pod.spec?.nodeName ?? ''
    counts.set(node, (counts.get(node) ?? 0) + 1)
  }
  return counts
}

/** The facts by which pods are given up, read once. Those that depend on the time hold until `rankChangesAtMs`. */
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

/** A time, and the power of two that its age had when it was read. What has no time comes before all that have one. */
interface Age {
  atMs: number
  bucket: number
}

/**
 * Pods in the order in which they are given up: first those that are not on a node, then by phase, those that are not ready, that cost less, that
 * share their node with more of `onNodes`, that became ready later, were restarted more often, are younger. Times are told apart by powers of two of
 * their age: of pods of about the same age any may go, so that a scale-down does not end all that came with the last rollout.
 */
export function byDeletionRank(pods: readonly Pod[], onNodes: ReadonlyMap<string, number>, nowMs: number): Pod[] {
  const ranks = pods.map((pod) => ({ pod, rank: rankOf(pod, onNodes.get(pod.spec?.nodeName ?? '') ?? 0, nowMs) }))
  return ranks.sort((a, b) => compareRanks(a.rank, b.rank)).map(({ pod }) => pod)
}

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

/** Reads a pod that shares its node with so many others. */
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
    sidecarRestarts: sidecars.size ? mostRestarts(status?.initContainerStatuses?.filter((s) => sidecars.has(s.name))) : 0,
    created: ageOf(millisecondsOf(metadata.creationTimestamp), nowMs),
  }
}

const mostRestarts = (statuses: readonly ContainerStatus[] = []): number => statuses.reduce((most, { restartCount }) => Math.max(most, restartCount), 0)

/** Less than 0 if `a` is given up before `b`. */
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

/** The younger first. */
const compareAges = (a: Rank, b: Rank, ageOfA: Age, ageOfB: Age): number =>
  ageOfA.atMs === ageOfB.atMs ? 0 : ageOfA.bucket - ageOfB.bucket || byUid(a, b)

const byUid = (a: Rank, b: Rank): number => (a.uid < b.uid ? -1 : 1)

const ageless: Age = { atMs: Infinity, bucket: -2 }

const ageOf = (atMs: number, nowMs: number): Age =>
  Number.isNaN(atMs) ? ageless : { atMs, bucket: bucketOf(atMs, nowMs) }

// Kubernetes takes the logarithm of nanoseconds: where a bucket ends depends on it.
const bucketOf = (atMs: number, nowMs: number): number =>
  nowMs > atMs ? Math.floor(Math.log2((nowMs - atMs) * 1e6)) : -1

/** The time from which on a rank is another one though its pod is the same: one of its ages passes a power of two. */
export const rankChangesAtMs = ({ ready, created }: Rank): number | undefined =>
  soonest(bucketEndsAtMs(ready), bucketEndsAtMs(created))

function bucketEndsAtMs({ atMs, bucket }: Age): number | undefined {
  if (bucket === ageless.bucket) return undefined
  const endMs = atMs + (bucket < 0 ? 1 : Math.ceil(2 ** (bucket + 1) / 1e6))
  return bucketOf(atMs, endMs) > bucket ? endMs : endMs + 1
}
