import type { ContainerStatus, Pod } from '../../../api/generated/types.ts'
import { deletionCostOf } from '../../../api/kinds/pod-annotations.ts'
import { isPodActive, isPodReady } from '../../../api/kinds/pod-availability.ts'
import { millisecondsOf } from '../../../api/timestamp.ts'

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

/** What the place of a pod depends on, read once. */
interface Rank {
  pod: Pod
  isAssigned: boolean
  phase: number
  isReady: boolean
  cost: number
  neighbours: number
  readyMs: number
  restarts: number
  sidecarRestarts: number
  createdMs: number
}

/**
 * Pods in the order in which they are given up: first those that are not on a node, then by phase, those that are not ready, that cost less, that
 * share their node with more of `onNodes`, that became ready later, were restarted more often, are younger. Times are told apart by powers of two of
 * their age: of pods of about the same age any may go, so that a scale-down does not end all that came with the last rollout.
 */
export function byDeletionRank(pods: readonly Pod[], onNodes: ReadonlyMap<string, number>, nowMs: number): Pod[] {
  const ranks = pods.map((pod) => rankOf(pod, onNodes))
  return ranks.sort((a, b) => compare(a, b, nowMs)).map(({ pod }) => pod)
}

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

function rankOf(pod: Pod, onNodes: ReadonlyMap<string, number>): Rank {
  const { spec, status, metadata } = pod
  const node = spec?.nodeName ?? ''
  const isReady = isPodReady(pod)
  const sidecars = new Set(spec?.initContainers?.filter((c) => c.restartPolicy === 'Always').map((c) => c.name))
  return {
    pod,
    isAssigned: node !== '',
    phase: phases[status?.phase ?? ''] ?? 0,
    isReady,
    cost: deletionCostOf(metadata.annotations),
    neighbours: onNodes.get(node) ?? 0,
    readyMs: isReady ? millisecondsOf(status?.conditions?.find((c) => c.type === 'Ready')?.lastTransitionTime) : Number.NaN,
    restarts: mostRestarts(status?.containerStatuses),
    sidecarRestarts: sidecars.size ? mostRestarts(status?.initContainerStatuses?.filter((s) => sidecars.has(s.name))) : 0,
    createdMs: millisecondsOf(metadata.creationTimestamp),
  }
}

const mostRestarts = (statuses: readonly ContainerStatus[] = []): number => statuses.reduce((most, { restartCount }) => Math.max(most, restartCount), 0)

function compare(a: Rank, b: Rank, nowMs: number): number {
  return (
    Number(a.isAssigned) - Number(b.isAssigned) ||
    a.phase - b.phase ||
    Number(a.isReady) - Number(b.isReady) ||
    a.cost - b.cost ||
    b.neighbours - a.neighbours ||
    (a.isReady ? compareTimes(a, b, a.readyMs, b.readyMs, nowMs) : 0) ||
    b.restarts - a.restarts ||
    b.sidecarRestarts - a.sidecarRestarts ||
    compareTimes(a, b, a.createdMs, b.createdMs, nowMs) ||
    byUid(a, b)
  )
}

/** What has no time comes first, then what is younger. */
function compareTimes(a: Rank, b: Rank, aMs: number, bMs: number, nowMs: number): number {
  if (aMs === bMs || (Number.isNaN(aMs) && Number.isNaN(bMs))) return 0
  if (Number.isNaN(aMs) || Number.isNaN(bMs)) return Number.isNaN(aMs) ? -1 : 1
  return ageBucket(aMs, nowMs) - ageBucket(bMs, nowMs) || byUid(a, b)
}

// Kubernetes takes the logarithm of nanoseconds: where a bucket ends depends on it.
const ageBucket = (ms: number, nowMs: number): number => (nowMs > ms ? Math.floor(Math.log2((nowMs - ms) * 1e6)) : -1)

const byUid = (a: Rank, b: Rank): number => ((a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1)
