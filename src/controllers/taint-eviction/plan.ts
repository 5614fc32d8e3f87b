import type { Pod, Taint } from '../../api/generated/types.ts'
import type { Step } from '../kit/index.ts'
import { isPodTerminating, millisecondsOf } from '../kit/workload/index.ts'
import { toleratedMs } from './toleration.ts'

/** Since when the clock of a pod runs, by its uid. */
export type Clocks = ReadonlyMap<string, number>

export interface Observed {
  taints: Taint[]
  /** On this node. */
  pods: Pod[]
  /** As they were when the node was last looked at. */
  clocks: Clocks
  nowMs: number
}

export type Action = { kind: 'Evict'; pod: Pod } | { kind: 'Cancel'; pod: Pod }

/** Who has to go now, who may stay after all, and when the next has to go. */
export function plan(seen: Observed): Step<Action> {
  const { pods, clocks, nowMs } = seen
  const actions: Action[] = []
  let nextMs = Number.POSITIVE_INFINITY
  for (const pod of pods) {
    if (isPodTerminating(pod)) continue
    const dueMs = dueAtMs(seen, pod)
    if (dueMs <= nowMs) actions.push({ kind: 'Evict', pod })
    else if (dueMs !== Number.POSITIVE_INFINITY) nextMs = Math.min(nextMs, dueMs)
    else if (clocks.has(pod.metadata.uid ?? '')) actions.push({ kind: 'Cancel', pod })
  }
  return { actions, ...(nextMs === Number.POSITIVE_INFINITY ? {} : { requeueAfterMs: nextMs - nowMs }) }
}

/** The clocks that run now: those of pods that have to go sooner or later. */
export function runningClocks(seen: Observed): Clocks {
  const running = new Map<string, number>()
  for (const pod of seen.pods) {
    if (!isPodTerminating(pod) && dueAtMs(seen, pod) !== Number.POSITIVE_INFINITY) running.set(pod.metadata.uid ?? '', sinceMs(seen, pod))
  }
  return running
}

function dueAtMs(seen: Observed, pod: Pod): number {
  if (seen.taints.length === 0) return Number.POSITIVE_INFINITY
  return sinceMs(seen, pod) + toleratedMs(seen.taints, pod.spec?.tolerations)
}

/**
 * A clock goes on when one taint takes the place of another. In a new process it is set by when the first of the taints was put there, or the pod
 * came later; a taint that does not say so is new.
 */
function sinceMs({ taints, clocks, nowMs }: Observed, pod: Pod): number {
  const running = clocks.get(pod.metadata.uid ?? '')
  if (running !== undefined) return running
  const addedMs = Math.min(...taints.map(({ timeAdded }) => millisecondsOf(timeAdded)).map((ms) => (Number.isNaN(ms) ? nowMs : ms)))
  const startedMs = millisecondsOf(pod.status?.startTime ?? pod.metadata.creationTimestamp)
  return Math.min(nowMs, Math.max(addedMs, Number.isNaN(startedMs) ? nowMs : startedMs))
}
