import type { Pod } from '../../api/generated/types.ts'
import { isPodAvailable, isPodReady, isPodTerminating } from '../kit/workload/index.ts'
import { waitMs } from './failed-pods.ts'
import type { Observed } from './observe.ts'
import type { Place } from './place.ts'
import type { DeletePod } from './plan.ts'
import { allowsSurge } from './strategy.ts'

/** What is to change on nodes. */
export interface Changes {
  deletes: DeletePod[]
  /** Nodes that are to have a pod made. */
  creates: string[]
}

export interface Management extends Changes {
  /** When the next failed pod may be deleted; undefined if none waits for it. */
  failedInMs: number | undefined
}

/** Gives every node that is to run a pod one, and takes pods away that have ended, are too many, or are not to be where they are. */
export function manage(seen: Observed): Management {
  const result: Management = { deletes: [], creates: [], failedInMs: undefined }
  const isSurging = allowsSurge(seen.set)
  for (const place of seen.places.needy.values()) {
    if (place.fit === 'run' && place.pods.length === 0) result.creates.push(place.node)
    else if (place.fit === 'run' || place.fit === 'stay') tend(seen, place, isSurging, result)
    else takeAway(place, result)
  }
  return result
}

/** Where there is no node any more, pods that were on it are the garbage collector's; those that wait for it would wait for ever. */
function takeAway({ node, fit, pods }: Place, { deletes }: Management): void {
  for (const pod of pods) {
    if (!isPodTerminating(pod) && (fit !== 'gone' || !pod.spec.nodeName)) deletes.push({ kind: 'DeletePod', pod, node })
  }
}

function tend(seen: Observed, { node, fit, pods }: Place, isSurging: boolean, result: Management): void {
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
  // While it surges a node must not be without a pod that is to stay; otherwise the new one waits until the old one is gone.
  if (running.length === 0 && isSurging && fit === 'run') result.creates.push(node)
}

/** Of several pods on a node, one old and one new may stay: until the new one is available, and while the old one is ready. */
function surplusOfSurge({ set, revision, nowMs }: Observed, running: readonly Pod[]): Pod[] {
  const [newest, ...newer] = running.filter((pod) => revision.has(pod))
  const [oldest, ...older] = running.filter((pod) => !revision.has(pod))
  const isReplaced = newest && oldest && (!isPodReady(oldest) || isPodAvailable(newest, set.spec.minReadySeconds ?? 0, nowMs))
  return [...newer, ...older, ...(isReplaced ? [oldest] : [])]
}
