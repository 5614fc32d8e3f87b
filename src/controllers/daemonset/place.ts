import { type Cause, causeOfPod, worstOf } from '../../api/explain/index.ts'
import type { DaemonSet, Node, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { soonest } from '../../base/soonest.ts'
import { type Finders, availableAtMs, isPodAvailable, isPodFinished, isPodReady, isPodTerminating } from '../kit/workload/index.ts'
import type { Fit, FitOf } from './fit.ts'
import type { Revision } from './revision.ts'

/** A node, or the name of one that is gone, with the pods of one set that are there or meant for it. */
export interface NodePods extends KubeObject {
  node: Node | undefined
  pods: readonly Pod[]
}

/** The facts that nodes and pods are read by. */
export interface Basis {
  set: DaemonSet
  matches: LabelMatcher
  fit: FitOf
  revision: Revision
  finders?: Finders | undefined
}

/** A node that a set has to do with. */
export interface Place {
  node: string
  /** `gone`: there is no such node. */
  fit: Fit | 'gone'
  /** The creation of a node that is to run a pod. */
  addedAt: string
  /** The set's pods there, or meant for it. The first is the one that counts. */
  pods: readonly Pod[]
  /** Pods that the set does not select any more. */
  misfits: readonly Pod[]
  /** True if something may have to be managed: no pod, several, or one that has ended or is not to be there. */
  isNeedy: boolean
  /** The first of the pods. */
  isReady: boolean
  isAvailable: boolean
  isUpdated: boolean
  isStaying: boolean
  /** True if one of the pods that are to stay is of the new revision and ready, and available. */
  hasUpdatedReady: boolean
  hasUpdatedAvailable: boolean
  /** The only pods of the old and of the new revision that are to stay. */
  oldPod: Pod | undefined
  newPod: Pod | undefined
  /** False if there are several of the old or of the new revision. */
  isClear: boolean
  isOldAvailable: boolean
  isNewAvailable: boolean
  /** The worst cause among the pods. */
  cause: Cause | undefined
  /** The time at which something of this is something else without any event. */
  changesAtMs: number | undefined
}

/** Undefined for a node that has no pod and is to have none. */
export function placeOf(basis: Basis, { metadata, node, pods }: NodePods, nowMs: number): Place | undefined {
  const fit = node ? basis.fit(node) : 'gone'
  if (pods.length === 0 && fit !== 'run') return undefined
  const misfits = pods.filter((pod) => !basis.matches(pod.metadata.labels))
  // A pod that has ended and only waits for its finalizers is in nobody's way.
  const own = pods.filter((pod) => !misfits.includes(pod) && !(isPodTerminating(pod) && isPodFinished(pod)))
  // Without a name, nobody knows which node a pod was made for.
  const here = metadata.name ? own.toSorted(bySeniority) : []
  return { node: metadata.name ?? '', fit, addedAt: (fit === 'run' && node?.metadata.creationTimestamp) || '', misfits, ...factsOf(basis, fit, here, nowMs) }
}

/** The same place with other pods. */
export const withPods = (basis: Basis, place: Place, pods: readonly Pod[], nowMs: number): Place =>
  ({ ...place, ...factsOf(basis, place.fit, pods, nowMs) })

function factsOf({ set, revision, finders }: Basis, fit: Place['fit'], pods: readonly Pod[], nowMs: number): Omit<Place, 'node' | 'fit' | 'addedAt' | 'misfits'> {
  const { minReadySeconds = 0 } = set.spec
  const isAvailable = (pod: Pod | undefined) => pod !== undefined && isPodAvailable(pod, minReadySeconds, nowMs)
  const staying = pods.filter((pod) => !isPodTerminating(pod))
  const [first] = pods
  const updated = staying.filter((pod) => revision.has(pod))
  const old = staying.filter((pod) => !revision.has(pod))
  const [newPod, oldPod] = [updated.at(-1), old.at(-1)]
  const causes = pods.map((pod) => causeOfPod(pod, { nowMs, minReadySeconds, ...finders }))
  const availableAt = (pod: Pod) => {
    const atMs = minReadySeconds > 0 && isPodReady(pod) ? availableAtMs(pod, minReadySeconds) : undefined
    return atMs !== undefined && atMs > nowMs ? atMs : undefined
  }
  return {
    pods,
    isNeedy: staying.length !== pods.length || staying.length !== 1 || fit === 'leave' || fit === 'gone' || staying.some(isPodFinished),
    isReady: first !== undefined && isPodReady(first),
    isAvailable: isAvailable(first),
    isUpdated: first !== undefined && revision.has(first),
    isStaying: first !== undefined && !isPodTerminating(first),
    hasUpdatedReady: updated.some(isPodReady),
    hasUpdatedAvailable: updated.some(isAvailable),
    oldPod,
    newPod,
    isClear: updated.length <= 1 && old.length <= 1,
    isOldAvailable: isAvailable(oldPod),
    isNewAvailable: isAvailable(newPod),
    cause: worstOf(causes),
    changesAtMs: soonest(...pods.map(availableAt), ...causes.map((cause) => cause?.changesAtMs)),
  }
}

/** Those on a node before those that wait for it, then the older, then by name. */
function bySeniority(a: Pod, b: Pod): number {
  if (Boolean(a.spec.nodeName) !== Boolean(b.spec.nodeName)) return a.spec.nodeName ? -1 : 1
  const [made, other] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  if (made !== other) return made < other ? -1 : 1
  return a.metadata.name! < b.metadata.name! ? -1 : 1
}
