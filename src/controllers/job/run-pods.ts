import type { Pod } from '../../api/generated/types.ts'
import { byDeletionRank } from '../kit/workload/index.ts'
import { indexWaitMs, waitMs } from './back-off.ts'
import type { Member } from './member.ts'
import type { Observed } from './observe.ts'
import { isIndexed, isSuspended, replacesOnlyEnded } from './tracking.ts'

export type RunAction =
  | { kind: 'CreatePod'; index?: number; predecessor?: Pod | undefined }
  /** It is not counted. */
  | { kind: 'DropPod'; pod: Pod }
  /** Whoever was to drop it has not come to its deletion: its end counts after all. */
  | { kind: 'TrackPod'; pod: Pod }

interface Run {
  actions: RunAction[]
  wait?: string
  requeueAfterMs?: number
}

const backsOff = (requeueAfterMs: number): Run => ({ actions: [], wait: 'the back-off after pods that failed', requeueAfterMs })

/** Keeps as many pods running as the Job wants now: first those that are too many go, then those that are missing come. */
export function runPods(seen: Observed, mostAtOnce: number): Run {
  const { job, pods } = seen
  const wanted = isSuspended(job) ? 0 : wantedPods(seen)
  const dropped = surplus(seen, wanted)
  if (dropped.length > 0) return { actions: dropped.slice(0, mostAtOnce).map((pod) => ({ kind: 'DropPod', pod })) }
  const track = podsOf(pods.untracked.values()).map((pod): RunAction => ({ kind: 'TrackPod', pod }))
  const going = replacesOnlyEnded(job) ? pods.counts.going : 0
  const missing = Math.min(wanted - pods.active.size - going, mostAtOnce)
  if (missing <= 0) return { actions: track }
  const made = isIndexed(job) ? missingIndexes(seen, missing) : missingPods(seen, missing)
  return { ...made, actions: [...track, ...made.actions] }
}

export function wantedPods({ job: { spec }, pods, tally }: Pick<Observed, 'job' | 'pods' | 'tally'>): number {
  const parallelism = spec.parallelism ?? 1
  if (spec.completions !== undefined) return Math.max(0, Math.min(parallelism, spec.completions - tally.succeeded))
  // A work queue of which one pod has found the end gets no more pods; the others come to it by themselves.
  return tally.succeeded > 0 ? pods.active.size : parallelism
}

const podsOf = (members: Iterable<Member>): Pod[] => Array.from(members, ({ pod }) => pod)

/** Active pods that should not be: more than wanted, of an index that another has, or of none. */
function surplus({ pods, nowMs }: Observed, wanted: number): Pod[] {
  const rank = (some: readonly Pod[]) => byDeletionRank(some, new Map(), nowMs)
  const doubles = [...pods.crowded].flatMap((index) => rank(podsOf(pods.activeAt(index))).slice(0, -1))
  const misplaced = [...podsOf(pods.homeless.values()), ...doubles]
  const tooMany = pods.active.size - wanted
  if (misplaced.length >= tooMany) return misplaced
  const known = new Set(misplaced)
  const others = podsOf(pods.active.values()).filter((pod) => !known.has(pod))
  return [...misplaced, ...(wanted === 0 ? others : rank(others).slice(0, tooMany - misplaced.length))]
}

function missingPods({ backOff, nowMs }: Observed, count: number): Run {
  const ms = waitMs(backOff, nowMs)
  return ms > 0 ? backsOff(ms) : { actions: Array.from({ length: count }, () => ({ kind: 'CreatePod' })) }
}

function missingIndexes({ pods, tally, backOff, nowMs }: Observed, count: number): Run {
  const missing = pods.freeIndexes(count)
  const predecessorOf = (index: number) => pods.predecessors.get(index)?.member.pod
  const create = (index: number): RunAction => {
    const predecessor = predecessorOf(index)
    return { kind: 'CreatePod', index, ...(predecessor ? { predecessor } : {}) }
  }
  if (!tally.failedIndexes) {
    const ms = waitMs(backOff, nowMs)
    return ms > 0 ? backsOff(ms) : { actions: missing.map(create) }
  }
  const waits = missing.map((index) => ({ index, ms: indexWaitMs(predecessorOf(index), nowMs) }))
  const later = waits.filter(({ ms }) => ms > 0).map(({ ms }) => ms)
  const actions = waits.filter(({ ms }) => ms === 0).map(({ index }) => create(index))
  return { ...(later.length > 0 ? backsOff(Math.min(...later)) : {}), actions }
}
