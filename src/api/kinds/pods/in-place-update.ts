import type { Pod, PodCondition } from '../../generated/types.ts'

// Annotations and conditions of a pod during an in-place update, written by the controller of the workload and by the
// node.

/**
 * The readiness gate of in-place updates. The component that begins an update closes it; the first one that sees the
 * update complete opens it.
 */
export const inPlaceUpdateReady = 'InPlaceUpdateReady'
/** On a pod: the state of its last in-place update, and its containers before the update. */
export const stateAnnotation = 'apps.kruise.io/inplace-update-state'
/** On a pod: the changes to apply after the grace period. */
export const graceAnnotation = 'apps.kruise.io/inplace-update-grace'

/** The last in-place update of a pod, as recorded in its annotation. */
export interface InPlaceState {
  revision: string
  updateTimestamp: string
  updateImages?: boolean
  /** The previous state of the containers whose images change, by name. */
  lastContainerStatuses: Record<string, { imageID?: string }>
  /**
   * Images of an earlier update that this one replaced before it completed. A container that runs one of them is not
   * updated yet.
   */
  supersededImages?: Record<string, string[]>
}

/** The parsed value of an annotation; undefined if it is absent or invalid. */
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
  return (
    state && { revision: '', updateTimestamp: '', ...state, lastContainerStatuses: state.lastContainerStatuses ?? {} }
  )
}

export const writeState = (state: InPlaceState): string => JSON.stringify(state)

/**
 * The closed gate. Its message names the update: between closing the gate and the change itself, the pod is in the
 * state after the previous update.
 */
export const shutGate = (revision: string): Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'> => ({
  type: inPlaceUpdateReady,
  status: 'False',
  reason: 'StartInPlaceUpdate',
  message: `the pod is being updated in place to revision ${revision}`,
})

/**
 * True if the node may open the gate of a pod: it was closed for exactly the update that has completed. A gate that was
 * closed for another or no stated reason is not the node's to open.
 */
export function mayServeAgain(pod: Pod): boolean {
  const gate = pod.status?.conditions?.find((c) => c.type === inPlaceUpdateReady)
  if (gate?.status !== 'False' || !gate.message) return false
  return gate.message === shutGate(readState(pod)?.revision ?? '').message && unfinishedUpdate(pod) === undefined
}

/**
 * Normalizes `nginx`, `nginx:latest` and `docker.io/library/nginx:latest` to one name, since runtimes report an image
 * by its full name.
 */
function wholeName(image: string): string {
  const tagged = /(@|:[^/]*$)/.test(image) ? image : `${image}:latest`
  return tagged.replace(/^(index\.)?docker\.io\//, '').replace(/^library\//, '')
}

const sameImage = (a: string, b: string): boolean => wholeName(a) === wholeName(b)

/**
 * The reason why an in-place update of a pod has not completed, as a message; undefined if it has, or if there is none.
 */
export function unfinishedUpdate(pod: Pod): string | undefined {
  if (pod.metadata.annotations?.[graceAnnotation] !== undefined) return 'its grace period before the update is not over'
  const state = readState(pod)
  const names = Object.keys(state?.lastContainerStatuses ?? {})
  if (!state || names.length === 0) return undefined
  const { observedGeneration } = pod.status ?? {}
  // A node that reports observedGeneration may still describe the state before the update.
  if (observedGeneration !== undefined && observedGeneration < (pod.metadata.generation ?? 0))
    return 'its node has not seen the update yet'
  for (const name of names) {
    const wanted = pod.spec.containers.find((c) => c.name === name)?.image ?? ''
    const status = pod.status?.containerStatuses?.find((c) => c.name === name)
    const isBeingMade = status?.state?.waiting?.reason === 'ContainerCreating'
    if (!status?.imageID || isBeingMade) return `container ${name} has not started with ${wanted} yet`
    if (sameImage(status.image, wanted)) continue
    const isOld =
      status.imageID === state.lastContainerStatuses[name]!.imageID ||
      state.supersededImages?.[name]?.some((image) => sameImage(status.image, image))
    if (isOld) return `container ${name} still has the image ${status.image}`
  }
  return undefined
}
