import type { Pod } from '../../src/api/generated/types.ts'
import { inPlaceUpdateReady, mayServeAgain } from '../../src/api/kinds/pods/in-place-update.ts'
import type { Seen } from './object-watch.ts'

/**
 * The component that opens the gate of a complete in-place update: our node agent itself, or the controller for
 * kubelets.
 */
export const gateKeepers = ['node', 'controller'] as const
export type GateKeeper = (typeof gateKeepers)[number]

export const hasGates = ({ spec }: Seen): boolean => (spec.readinessGates?.length ?? 0) > 0

const isTrue = ({ status }: Seen, type: string): boolean => status?.conditions?.some((c) => c.type === type && c.status === 'True') ?? false

const isOpen = (pod: Seen): boolean => pod.spec.readinessGates!.every(({ conditionType }) => isTrue(pod, conditionType))

/** The node's report of a pod whose readiness depends on other components, too. */
export interface Word {
  isReady: boolean
  images: string
}

export const wordOn = (pod: Seen, keeper: GateKeeper): Word => ({ isReady: isOpen(pod) || opens(pod, keeper), images: (pod.spec.containers ?? []).map(({ image }) => image).join() })

const runningOf = ({ spec }: Seen, at: string) =>
  (spec.containers ?? []).map(({ name, image }) => ({ name, image, imageID: `${image}@sha256:0`, restartCount: 0, ready: true, started: true, state: { running: { startedAt: at } } }))

const opens = (pod: Seen, keeper: GateKeeper): boolean =>
  keeper === 'node' && mayServeAgain({ ...pod, status: { ...pod.status, containerStatuses: runningOf(pod, '') } } as unknown as Pod)

/**
 * True if a report is needed after the last one: the gates have opened, or a container has another image. A closed gate
 * is reported together with its image, as our node agent does: one report for an in-place update, and another one if
 * the node does not open the gate itself. Intermediate states, which nodes report too, are omitted, as for new pods.
 */
export const isNews = (word: Word, said: Word): boolean => word.images !== said.images || (word.isReady && !said.isReady)

/** A strategic merge: what others say stays. One that opens a gate is about this very version of the pod. */
export function reportOf(pod: Seen, at: string, keeper: GateKeeper): object {
  const condition = (type: string, is: boolean) => ({ type, status: is ? 'True' : 'False', reason: null, message: null, lastTransitionTime: at })
  const others = ['Initialized', 'ContainersReady', 'PodScheduled'].filter((type) => !isTrue(pod, type)).map((type) => condition(type, true))
  const isOpening = opens(pod, keeper)
  const conditions = [...others, condition('Ready', isOpening || isOpen(pod)), ...(isOpening ? [condition(inPlaceUpdateReady, true)] : [])]
  const { uid, resourceVersion } = pod.metadata
  return { ...(isOpening ? { metadata: { uid, resourceVersion } } : {}), status: { phase: 'Running', conditions, containerStatuses: runningOf(pod, at) } }
}
