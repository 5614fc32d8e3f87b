import type { Pod } from '../../api/generated/types.ts'
import type { Step } from '../kit/index.ts'
import { burst, byDeletionRank } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { msUntilDeadline } from './goal.ts'
import type { Member } from './member.ts'
import type { Observed } from './observe.ts'
import {
  indexWaitMs,
  isFinished,
  isIndexed,
  isManagedElsewhere,
  isSuspended,
  replacesOnlyEnded,
  waitMs,
} from './policies.ts'

interface Run {
  actions: Action[]
  wait?: string
  requeueAfterMs?: number
}

const backsOff = (requeueAfterMs: number): Run => ({
  actions: [],
  wait: 'the back-off after pods that failed',
  requeueAfterMs,
})

/** Maintains the desired number of running pods: first redundant pods are deleted, then missing ones are created. */
function runPods(seen: Observed): Run {
  const { job, pods } = seen
  const wanted = isSuspended(job) ? 0 : wantedPods(seen)
  const dropped = surplus(seen, wanted)
  if (dropped.length > 0) return { actions: dropped.slice(0, burst).map((pod) => ({ kind: 'DropPod', pod })) }
  const track = podsOf(pods.untracked.values()).map((pod): Action => ({ kind: 'TrackPod', pod }))
  const going = replacesOnlyEnded(job) ? pods.counts.going : 0
  const missing = Math.min(wanted - pods.active.size - going, burst)
  if (missing <= 0) return { actions: track }
  const made = isIndexed(job) ? missingIndexes(seen, missing) : missingPods(seen, missing)
  return { ...made, actions: [...track, ...made.actions] }
}

export function wantedPods({ job: { spec }, pods, tally }: Pick<Observed, 'job' | 'pods' | 'tally'>): number {
  const parallelism = spec.parallelism ?? 1
  if (spec.completions !== undefined) return Math.max(0, Math.min(parallelism, spec.completions - tally.succeeded))
  // A work queue with a succeeded pod gets no more pods. The others finish by themselves.
  return tally.succeeded > 0 ? pods.active.size : parallelism
}

const podsOf = (members: Iterable<Member>): Pod[] => Array.from(members, ({ pod }) => pod)

/** The redundant active pods: beyond the desired number, with a duplicate index, or without an index. */
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
  const create = (index: number): Action => {
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

/**
 * Decides the next step. The end of a pod is first recorded in the status. Once that is observed, the pod is released.
 * Once that is done, the status counts it. After any interruption, each pod is counted exactly once.
 */
export function plan(seen: Observed): Step<Action> {
  const { job, goal, pods, nowMs } = seen
  if (isManagedElsewhere(job) || isFinished(job)) return { actions: [] }
  if (seen.strays.length + seen.strangers.length > 0) {
    return { actions: sortOut(seen), wait: 'pods that belong to it, or no longer do' }
  }
  const letGo = accounted(seen).map((pod): Action => ({ kind: 'LetGoPod', pod }))
  if (job.metadata.deletionTimestamp) return { actions: letGo }
  if (goal?.isDeclared) return { actions: [...letGo, ...endPods(seen)], wait: `${pods.counts.going} pods to go` }
  if (goal) return { actions: letGo, wait: goal.message }
  const { actions, requeueAfterMs, ...why } = runPods(seen)
  const laterMs = [requeueAfterMs, msUntilDeadline(job, nowMs)].filter((ms) => ms !== undefined)
  return {
    ...why,
    actions: [...letGo, ...actions],
    ...(laterMs.length > 0 ? { requeueAfterMs: Math.min(...laterMs) } : {}),
  }
}

function sortOut({ strays, strangers }: Observed): Action[] {
  return [
    ...strangers.map((pod): Action => ({ kind: 'ReleasePod', pod })),
    ...strays.map((pod): Action => ({ kind: 'AdoptPod', pod })),
  ]
}

/** Tracked pods whose end is recorded as far as necessary. */
function accounted(seen: Observed): Pod[] {
  const found = new Set<Pod>()
  for (const { pod } of ends(seen)) {
    if (found.size === burst) break
    found.add(pod)
  }
  return [...found]
}

function* ends({ pods, tally: { written } }: Observed): Generator<Member> {
  for (const uid of written) {
    const member = pods.tracked.get(uid)
    if (member?.fate && !pods.isPredecessor(member)) yield member
  }
  yield* pods.ended['passed over'].values()
  // A succeeded index is recorded by itself.
  const { completed } = pods.known
  for (const member of pods.ended.succeeded.values()) {
    if (member.index !== undefined && completed.has(member.index)) yield member
  }
}

/** Pods that would continue to run although the result is decided. Those of a failed Job count as failed. */
function endPods({ goal, pods }: Observed): Action[] {
  const isCounted = ({ isTracked }: Member) => isTracked && !goal!.isSuccess
  const some = [...pods.active.values()].slice(0, burst)
  return some.map((member) => ({ kind: isCounted(member) ? 'DeletePod' : 'DropPod', pod: member.pod }))
}
