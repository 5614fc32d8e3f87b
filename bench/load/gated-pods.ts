import type { Pod } from '../../src/api/generated/types.ts'
import { inPlaceUpdateReady, mayServeAgain } from '../../src/api/kinds/pods/in-place-update.ts'
import type { Seen } from './object-watch.ts'

/** Who opens the gate of an update in place that is through: our node agent does it itself, for kubelets the controller has to. */
export const gateKeepers = ['node', 'controller'] as const
export type GateKeeper = (typeof gateKeepers)[number]

export const hasGates = ({ spec }: Seen): boolean => (spec.readinessGates?.length ?? 0) > 0

const isTrue = ({ status }: Seen, type: string): boolean => status?.conditions?.some((c) => c.type === type && c.status === 'True') ?? false

const isOpen = (pod: Seen): boolean => pod.spec.readinessGates!.every(({ conditionType }) => isTrue(pod, conditionType))

/** What a node has to say of a pod whose readiness others have a word in. */
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
 * Whether that is to be told, after what was said last: its gates have opened, or a container has another image. That they have shut is told together with the image
 * for which they did, as our node agent does: a report for a pod that is updated in place, and another one where it does not open the gate itself. States in between, of which
 * nodes tell too, are left out, as they are for pods that are new.
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
