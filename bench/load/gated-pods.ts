import type { Seen } from './object-watch.ts'

export const hasGates = ({ spec }: Seen): boolean => (spec.readinessGates?.length ?? 0) > 0

const isTrue = ({ status }: Seen, type: string): boolean => status?.conditions?.some((c) => c.type === type && c.status === 'True') ?? false

const isOpen = (pod: Seen): boolean => pod.spec.readinessGates!.every(({ conditionType }) => isTrue(pod, conditionType))

/** What a node has to say of a pod whose readiness others have a word in. */
export interface Word {
  isReady: boolean
  images: string
}

export const wordOn = (pod: Seen): Word => ({ isReady: isOpen(pod), images: (pod.spec.containers ?? []).map(({ image }) => image).join() })

/**
 * Whether that is to be told, after what was said last: its gates have opened, or a container has another image. That they have shut is told together with the image
 * for which they did, as our node agent does: two reports for a pod that is updated in place.
 */
export const isNews = (word: Word, said: Word): boolean => word.images !== said.images || (word.isReady && !said.isReady)

/** A strategic merge: what others say stays. */
export function reportOf(pod: Seen, at: string): object {
  const condition = (type: string, is: boolean) => ({ type, status: is ? 'True' : 'False', reason: null, message: null, lastTransitionTime: at })
  const others = ['Initialized', 'ContainersReady', 'PodScheduled'].filter((type) => !isTrue(pod, type)).map((type) => condition(type, true))
  const containerStatuses = (pod.spec.containers ?? []).map(({ name, image }) => ({
    name, image, imageID: `${image}@sha256:0`, restartCount: 0, ready: true, started: true, state: { running: { startedAt: at } },
  }))
  return { phase: 'Running', conditions: [...others, condition('Ready', isOpen(pod))], containerStatuses }
}
