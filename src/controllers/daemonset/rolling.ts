import type { Pod } from '../../api/generated/types.ts'
import { isPodAvailable, isPodTerminating } from '../kit/workload/index.ts'
import type { Changes } from './manage.ts'
import type { Observed } from './observe.ts'
import type { Place } from './places.ts'
import type { DeletePod } from './plan.ts'
import { type Bounds, boundsOf } from './strategy.ts'

export interface Rolling extends Changes {
  /** Why nothing more may happen yet. */
  wait?: string
}

/** Replaces outdated pods within the bounds. It expects that nothing is to be managed: at most one old and one new pod are on each node. */
export function rollOut(seen: Observed): Rolling {
  const desired = seen.places.filter(({ fit }) => fit === 'run').length
  const bounds = boundsOf(seen.set, desired)
  return bounds.maxSurge === 0 ? replace(seen, bounds) : surge(seen, bounds, desired)
}

/** The pods of a place that are not going; `isClear` if there is at most one of each sort. */
function pairOf({ revision }: Observed, { pods }: Place): { oldPod: Pod | undefined; newPod: Pod | undefined; isClear: boolean } {
  let [oldPod, newPod, isClear]: [Pod | undefined, Pod | undefined, boolean] = [undefined, undefined, true]
  for (const pod of pods) {
    if (isPodTerminating(pod)) continue
    if (revision.has(pod)) [newPod, isClear] = [pod, isClear && !newPod]
    else [oldPod, isClear] = [pod, isClear && !oldPod]
  }
  return { oldPod, newPod, isClear }
}

/** Takes old pods away, so that there is room for new ones. One that is not available costs nothing and goes first. */
function replace(seen: Observed, { maxUnavailable }: Bounds): Rolling {
  const broken: DeletePod[] = []
  const healthy: DeletePod[] = []
  let unavailable = 0
  for (const place of seen.places) {
    const { oldPod, newPod, isClear } = pairOf(seen, place)
    const only = oldPod && newPod ? undefined : (oldPod ?? newPod)
    const isThere = isClear && only && isAvailable(seen, only)
    if (!isThere) unavailable++
    if (!isClear || only !== oldPod || !oldPod) continue
    ;(isThere ? healthy : broken).push({ kind: 'DeletePod', pod: oldPod, node: place.node })
  }
  const room = Math.max(0, maxUnavailable - unavailable)
  const deletes = [...broken, ...healthy.slice(0, room)]
  const isHeld = healthy.length > 0 && deletes.length === 0
  return { deletes, creates: [], ...(isHeld ? { wait: `${unavailable} of ${maxUnavailable} pods that may be unavailable are` } : {}) }
}

/** Makes new pods beside old ones, which go when these are available. */
function surge(seen: Observed, { maxSurge }: Bounds, desired: number): Rolling {
  const deletes: DeletePod[] = []
  const unwanted: DeletePod[] = []
  const atOnce: string[] = []
  const candidates: string[] = []
  let surging = 0
  let available = 0
  for (const place of seen.places) {
    const { oldPod, newPod, isClear } = pairOf(seen, place)
    const { node, fit } = place
    const first = oldPod ?? newPod
    if (isClear && first && isAvailable(seen, first)) available++
    if (!isClear) surging++
    else if (!oldPod) continue
    else if (newPod) {
      if (isAvailable(seen, newPod)) deletes.push({ kind: 'DeletePod', pod: oldPod, node })
      else surging++
    } else if (fit === 'run') (isAvailable(seen, oldPod) ? candidates : atOnce).push(node)
    else (isAvailable(seen, oldPod) ? unwanted : deletes).push({ kind: 'DeletePod', pod: oldPod, node })
  }
  // Who surges wants as many available as there are nodes: a pod that may stay where it is goes when it is one too many.
  deletes.push(...unwanted.slice(0, Math.max(0, available - desired)))
  const creates = [...atOnce, ...candidates.slice(0, Math.max(0, maxSurge - surging))]
  const isHeld = candidates.length > 0 && creates.length + deletes.length === 0
  return { deletes, creates, ...(isHeld ? { wait: `${surging} of ${maxSurge} new pods that may be made beside old ones are not available` } : {}) }
}

const isAvailable = ({ set, nowMs }: Observed, pod: Pod): boolean => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs)
