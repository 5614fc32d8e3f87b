import type { Pod } from '../../api/generated/types.ts'
import { isPodReady, isPodTerminating, millisecondsOf } from '../kit/workload/index.ts'

/** A pod whose eviction was granted goes within this time, or stays. */
export const deletionTimeoutMs = 120_000

/** Evictions that were granted and not seen yet. */
export interface Disrupted {
  /** Pods that will go, by name, and when that was granted. */
  expected: Record<string, string>
  /** Pods that should have gone and have not. */
  overdue: Pod[]
  /** When the next of them is overdue. */
  recheckAtMs: number | undefined
}

/** Which of the evictions that were granted are still to be seen. Those of pods that are gone, or going, have been. */
export function disruptedOf(pods: readonly Pod[], granted: Readonly<Record<string, string>> | undefined, nowMs: number): Disrupted {
  const result: Disrupted = { expected: {}, overdue: [], recheckAtMs: undefined }
  if (!granted) return result
  for (const pod of pods) {
    const name = pod.metadata.name ?? ''
    const time = Object.hasOwn(granted, name) ? granted[name] : undefined
    if (time === undefined || isPodTerminating(pod)) continue
    const dueMs = millisecondsOf(time) + deletionTimeoutMs
    if (dueMs <= nowMs) result.overdue.push(pod)
    else {
      result.expected[name] = time
      result.recheckAtMs = Math.min(result.recheckAtMs ?? dueMs, dueMs)
    }
  }
  return result
}

/** How many pods are healthy and expected to stay. */
export const healthyPods = (pods: readonly Pod[], { expected }: Disrupted): number =>
  pods.filter((pod) => !isPodTerminating(pod) && isPodReady(pod) && !Object.hasOwn(expected, pod.metadata.name ?? '')).length
