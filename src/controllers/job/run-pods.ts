import type { Pod } from '../../api/generated/types.ts'
import { byDeletionRank } from '../kit/workload/index.ts'
import { indexWaitMs, waitMs } from './back-off.ts'
import { IndexSet } from './index-set.ts'
import type { Observed } from './observe.ts'
import { completionsOf, indexesOf, isPodGoing } from './tally.ts'
import { indexOf, isIndexed, isSuspended, isTracked, replacesOnlyEnded } from './tracking.ts'

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
  const { job, tally } = seen
  const wanted = isSuspended(job) ? 0 : wantedPods(seen)
  const dropped = surplus(seen, wanted)
  if (dropped.length > 0) return { actions: dropped.slice(0, mostAtOnce).map((pod) => ({ kind: 'DropPod', pod })) }
  const track = tally.active.filter((pod) => !isTracked(pod)).map((pod): RunAction => ({ kind: 'TrackPod', pod }))
  const going = replacesOnlyEnded(job) ? tally.terminating : 0
  const missing = Math.min(wanted - tally.active.length - going, mostAtOnce)
  if (missing <= 0) return { actions: track }
  const made = isIndexed(job) ? missingIndexes(seen, missing) : missingPods(seen, missing)
  return { ...made, actions: [...track, ...made.actions] }
}

export function wantedPods({ job: { spec }, tally }: Pick<Observed, 'job' | 'tally'>): number {
  const parallelism = spec.parallelism ?? 1
  if (spec.completions !== undefined) return Math.max(0, Math.min(parallelism, spec.completions - tally.succeeded))
  // A work queue of which one pod has found the end gets no more pods; the others come to it by themselves.
  return tally.succeeded > 0 ? tally.active.length : parallelism
}

/** Active pods that should not be: more than wanted, of an index that another has, or of none. */
function surplus({ job, tally: { active }, nowMs }: Observed, wanted: number): Pod[] {
  const rank = (pods: readonly Pod[]) => byDeletionRank(pods, new Map(), nowMs)
  const tooMany = Math.max(0, active.length - wanted)
  if (!isIndexed(job)) return tooMany > 0 ? rank(active).slice(0, tooMany) : []
  const byIndex = new Map<number | undefined, Pod[]>()
  for (const pod of active) {
    const index = indexOf(pod, completionsOf(job))
    byIndex.set(index, [...(byIndex.get(index) ?? []), pod])
  }
  const misplaced = [...byIndex].flatMap(([index, pods]) => (index === undefined ? pods : rank(pods).slice(0, -1)))
  if (misplaced.length >= tooMany) return misplaced
  const others = active.filter((pod) => !misplaced.includes(pod))
  return [...misplaced, ...rank(others).slice(0, tooMany - misplaced.length)]
}

function missingPods({ backOff, nowMs }: Observed, count: number): Run {
  const ms = waitMs(backOff, nowMs)
  return ms > 0 ? backsOff(ms) : { actions: Array.from({ length: count }, () => ({ kind: 'CreatePod' })) }
}

function missingIndexes(seen: Observed, count: number): Run {
  const { job, pods, tally, backOff, nowMs } = seen
  const completions = completionsOf(job)
  const going = replacesOnlyEnded(job) ? pods.filter(isPodGoing) : []
  const done = tally.succeededIndexes.union(tally.failedIndexes ?? IndexSet.empty)
  const taken = done.union(indexesOf([...tally.active, ...going], completions))
  const missing = taken.missing(count, completions)
  const create = (index: number): RunAction => {
    const predecessor = tally.predecessors.get(index)
    return { kind: 'CreatePod', index, ...(predecessor ? { predecessor } : {}) }
  }
  if (!tally.failedIndexes) {
    const ms = waitMs(backOff, nowMs)
    return ms > 0 ? backsOff(ms) : { actions: missing.map(create) }
  }
  const waits = missing.map((index) => ({ index, ms: indexWaitMs(tally.predecessors.get(index), nowMs) }))
  const later = waits.filter(({ ms }) => ms > 0).map(({ ms }) => ms)
  const actions = waits.filter(({ ms }) => ms === 0).map(({ index }) => create(index))
  return { ...(later.length > 0 ? backsOff(Math.min(...later)) : {}), actions }
}
