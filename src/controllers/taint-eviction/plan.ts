import type { Pod, Taint, Toleration } from '../../api/generated/types.ts'
import { tolerates } from '../../api/kinds/placement/tolerations.ts'
import type { Step } from '../kit/index.ts'
import { isPodTerminating, millisecondsOf } from '../kit/workload/index.ts'

export const evictingTaints = (taints: readonly Taint[] | undefined): Taint[] =>
  (taints ?? []).filter((taint) => taint.effect === 'NoExecute')

/** The time for which a pod tolerates taints: 0 if one is not tolerated, infinite without a limit. */
export function toleratedMs(taints: readonly Taint[], tolerations: readonly Toleration[] = []): number {
  let limit = Number.POSITIVE_INFINITY
  for (const taint of taints) {
    // The first matching toleration decides.
    const toleration = tolerations.find((t) => tolerates(t, taint))
    if (!toleration) return 0
    if (toleration.tolerationSeconds !== undefined) {
      limit = Math.min(limit, Math.max(0, Number(toleration.tolerationSeconds) * 1000))
    }
  }
  return limit
}

/** The start of each pod's clock, by UID. */
export type Clocks = ReadonlyMap<string, number>

export interface Observed {
  taints: Taint[]
  /** The pods on this node. */
  pods: Pod[]
  /** The clocks of the previous reconcile. */
  clocks: Clocks
  nowMs: number
}

export type Action = { kind: 'Evict'; pod: Pod } | { kind: 'Cancel'; pod: Pod }

/** The pods to evict now, pods whose eviction is cancelled, and the time of the next eviction. */
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

/** The clocks of pods that will be evicted. */
export function runningClocks(seen: Observed): Clocks {
  const running = new Map<string, number>()
  for (const pod of seen.pods) {
    if (!isPodTerminating(pod) && dueAtMs(seen, pod) !== Number.POSITIVE_INFINITY) {
      running.set(pod.metadata.uid ?? '', sinceMs(seen, pod))
    }
  }
  return running
}

function dueAtMs(seen: Observed, pod: Pod): number {
  if (seen.taints.length === 0) return Number.POSITIVE_INFINITY
  return sinceMs(seen, pod) + toleratedMs(seen.taints, pod.spec?.tolerations)
}

/**
 * A clock continues when one taint replaces another. A new process starts it at the time of the first taint, or of a
 * later pod. A taint without timeAdded counts from now.
 */
function sinceMs({ taints, clocks, nowMs }: Observed, pod: Pod): number {
  const running = clocks.get(pod.metadata.uid ?? '')
  if (running !== undefined) return running
  const addedMs = Math.min(
    ...taints.map(({ timeAdded }) => millisecondsOf(timeAdded)).map((ms) => (Number.isNaN(ms) ? nowMs : ms)),
  )
  const startedMs = millisecondsOf(pod.status?.startTime ?? pod.metadata.creationTimestamp)
  return Math.min(nowMs, Math.max(addedMs, Number.isNaN(startedMs) ? nowMs : startedMs))
}
