import type { Pod } from '../../api/generated/types.ts'
import { isPodAvailable, isPodReady, isPodTerminating } from '../kit/workload/index.ts'
import type { Changes, DeletePod } from './apply.ts'
import { waitMs } from './failures.ts'
import type { NodeState } from './node-state.ts'
import type { Observed } from './observe.ts'
import { allowsSurge } from './rolling.ts'

export interface Management extends Changes {
  /** The time until the next failed pod may be deleted. Undefined if there is none. */
  failedInMs: number | undefined
}

/**
 * Creates a pod for every eligible node without one, and deletes pods that have finished, are redundant or are
 * misplaced.
 */
export function manage(seen: Observed): Management {
  const result: Management = { deletes: [], creates: [], failedInMs: undefined }
  const isSurging = allowsSurge(seen.set)
  for (const state of seen.table.needy.values()) {
    if (state.fit === 'run' && state.pods.length === 0) result.creates.push(state.node)
    else if (state.fit === 'run' || state.fit === 'stay') tend(seen, state, isSurging, result)
    else takeAway(state, result)
  }
  return result
}

/**
 * Bound pods of a deleted node are left to the pod garbage collector. Pods that wait for the node would wait forever.
 */
function takeAway({ node, fit, pods }: NodeState, { deletes }: Management): void {
  for (const pod of pods) {
    if (!isPodTerminating(pod) && (fit !== 'gone' || !pod.spec.nodeName)) deletes.push({ kind: 'DeletePod', pod, node })
  }
}

function tend(seen: Observed, { node, fit, pods }: NodeState, isSurging: boolean, result: Management): void {
  const running: Pod[] = []
  for (const pod of pods) {
    if (isPodTerminating(pod)) continue
    const phase = pod.status?.phase
    if (phase === 'Failed') {
      const inMs = waitMs(seen.failures, node, seen.nowMs)
      if (inMs === 0) result.deletes.push({ kind: 'DeletePod', pod, node, because: 'failed' })
      else result.failedInMs = Math.min(result.failedInMs ?? inMs, inMs)
    } else if (phase === 'Succeeded') result.deletes.push({ kind: 'DeletePod', pod, node, because: 'succeeded' })
    else running.push(pod)
  }
  if (running.length > 1) {
    const surplus = isSurging ? surplusOfSurge(seen, running) : running.slice(1)
    result.deletes.push(...surplus.map((pod): DeletePod => ({ kind: 'DeletePod', pod, node })))
  }
  // With surge, a node must always have a pod. Otherwise the new pod waits until the old one is gone.
  if (running.length === 0 && isSurging && fit === 'run') result.creates.push(node)
}

/** An old and a new pod may share a node until the new one is available, while the old one is ready. */
function surplusOfSurge({ set, revision, nowMs }: Observed, running: readonly Pod[]): Pod[] {
  const [newest, ...newer] = running.filter((pod) => revision.has(pod))
  const [oldest, ...older] = running.filter((pod) => !revision.has(pod))
  const isReplaced =
    newest && oldest && (!isPodReady(oldest) || isPodAvailable(newest, set.spec.minReadySeconds ?? 0, nowMs))
  return [...newer, ...older, ...(isReplaced ? [oldest] : [])]
}
