import type { Pod, PodCondition } from '../generated/types.ts'

// What is said on a pod while it is updated as it runs, by the workload that updates it and by the node that runs it.

/** The readiness gate for it: shut by who begins an update, opened by whoever first sees that it is through. */
export const inPlaceUpdateReady = 'InPlaceUpdateReady'
/** Says on a pod what its last update in place was, and how its containers were before. */
export const stateAnnotation = 'apps.kruise.io/inplace-update-state'
/** Holds what is to be changed once the grace period is over. */
export const graceAnnotation = 'apps.kruise.io/inplace-update-grace'

/** The last update in place of a pod, as the pod says it. */
export interface InPlaceState {
  revision: string
  updateTimestamp: string
  updateImages?: boolean
  /** How the containers were that get another image, by name. */
  lastContainerStatuses: Record<string, { imageID?: string }>
  /** Images of an update that was overtaken by this one before it was through: to run one of these is not to be done. */
  supersededImages?: Record<string, string[]>
}

/** What an annotation holds; undefined where there is none, or none that can be read. */
export function readNote<T>(pod: Pod, annotation: string): Partial<T> | undefined {
  const text = pod.metadata.annotations?.[annotation]
  if (text === undefined) return undefined
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined // somebody else has written it: there is nothing to go by
  }
}

export function readState(pod: Pod): InPlaceState | undefined {
  const state = readNote<InPlaceState>(pod, stateAnnotation)
  return state && { revision: '', updateTimestamp: '', ...state, lastContainerStatuses: state.lastContainerStatuses ?? {} }
}

export const writeState = (state: InPlaceState): string => JSON.stringify(state)

/** How the gate is while it is shut. It says what for: between this and the change itself, the pod is as it was after the update before. */
export const shutGate = (revision: string): Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'> => ({
  type: inPlaceUpdateReady,
  status: 'False',
  reason: 'StartInPlaceUpdate',
  message: `the pod is being updated in place to revision ${revision}`,
})

/** Whether its node may open the gate of a pod: it is shut for just the update that is through. What others have shut, or did not say what for, is not for nodes to open. */
export function mayServeAgain(pod: Pod): boolean {
  const gate = pod.status?.conditions?.find((c) => c.type === inPlaceUpdateReady)
  if (gate?.status !== 'False' || !gate.message) return false
  return gate.message === shutGate(readState(pod)?.revision ?? '').message && unfinishedUpdate(pod) === undefined
}

/** One name for `nginx`, `nginx:latest` and `docker.io/library/nginx:latest`: runtimes tell an image by its whole name. */
function wholeName(image: string): string {
  const tagged = /(@|:[^/]*$)/.test(image) ? image : `${image}:latest`
  return tagged.replace(/^(index\.)?docker\.io\//, '').replace(/^library\//, '')
}

const sameImage = (a: string, b: string): boolean => wholeName(a) === wholeName(b)

/** Why an update in place of a pod is not through yet, in words; undefined once it is, or if there was none. */
export function unfinishedUpdate(pod: Pod): string | undefined {
  if (pod.metadata.annotations?.[graceAnnotation] !== undefined) return 'its grace period before the update is not over'
  const state = readState(pod)
  const names = Object.keys(state?.lastContainerStatuses ?? {})
  if (!state || names.length === 0) return undefined
  const { observedGeneration } = pod.status ?? {}
  // A node that says which state of the pod it speaks of may speak of the one before the update.
  if (observedGeneration !== undefined && observedGeneration < (pod.metadata.generation ?? 0)) return 'its node has not seen the update yet'
  for (const name of names) {
    const wanted = pod.spec.containers.find((c) => c.name === name)?.image ?? ''
    const status = pod.status?.containerStatuses?.find((c) => c.name === name)
    const isBeingMade = status?.state?.waiting?.reason === 'ContainerCreating'
    if (!status?.imageID || isBeingMade) return `container ${name} has not started with ${wanted} yet`
    if (sameImage(status.image, wanted)) continue
    const isOld = status.imageID === state.lastContainerStatuses[name]!.imageID || state.supersededImages?.[name]?.some((image) => sameImage(status.image, image))
    if (isOld) return `container ${name} still has the image ${status.image}`
  }
  return undefined
}
