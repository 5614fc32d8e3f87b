import type { Seen } from './object-watch.ts'

export const hasGates = ({ spec }: Seen): boolean => (spec.readinessGates?.length ?? 0) > 0

const isTrue = ({ status }: Seen, type: string): boolean => status?.conditions?.some((c) => c.type === type && c.status === 'True') ?? false

const isOpen = (pod: Seen): boolean => pod.spec.readinessGates!.every(({ conditionType }) => isTrue(pod, conditionType))

const hasImages = ({ spec, status }: Seen): boolean => (spec.containers ?? []).every(({ name, image }) => status?.containerStatuses?.some((s) => s.name === name && s.image === image))

/** What a node has to say of a pod of its own whose readiness others have a word in: its gates have opened or shut, or a container has another image. */
export const isBehind = (pod: Seen): boolean => Boolean(pod.spec.nodeName) && !pod.metadata.deletionTimestamp && (!hasImages(pod) || isTrue(pod, 'Ready') !== isOpen(pod))

/** A strategic merge: what others say stays. */
export function reportOf(pod: Seen, at: string): object {
  const condition = (type: string, is: boolean) => ({ type, status: is ? 'True' : 'False', reason: null, message: null, lastTransitionTime: at })
  const others = ['Initialized', 'ContainersReady', 'PodScheduled'].filter((type) => !isTrue(pod, type)).map((type) => condition(type, true))
  const containerStatuses = (pod.spec.containers ?? []).map(({ name, image }) => ({
    name, image, imageID: `${image}@sha256:0`, restartCount: 0, ready: true, started: true, state: { running: { startedAt: at } },
  }))
  return { phase: 'Running', conditions: [...others, condition('Ready', isOpen(pod))], containerStatuses }
}
