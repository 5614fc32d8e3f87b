import type { Pod } from '../../api/generated/types.ts'
import type { InPlaceChange, TextsPatch } from './in-place-change.ts'

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

/** An update whose grace period runs, as the pod says it. */
export interface InPlaceGrace {
  revision: string
  graceSeconds: number
  change: InPlaceChange
}

/** What an annotation holds; undefined where there is none, or none that can be read. */
function parsed<T>(pod: Pod, annotation: string): Partial<T> | undefined {
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
  const state = parsed<InPlaceState>(pod, stateAnnotation)
  return state && { revision: '', updateTimestamp: '', ...state, lastContainerStatuses: state.lastContainerStatuses ?? {} }
}

export const writeState = (state: InPlaceState): string => JSON.stringify(state)

/** As OpenKruise writes it: the metadata is a merge patch, encoded. */
interface StoredGrace {
  revision: string
  containerImages: Record<string, string>
  metaDataPatch: string
  graceSeconds: number
}

export function readGrace(pod: Pod): InPlaceGrace | undefined {
  const grace = parsed<StoredGrace>(pod, graceAnnotation)
  if (!grace?.revision) return undefined
  const { labels = {}, annotations = {} } = metadataOf(grace.metaDataPatch)
  return { revision: grace.revision, graceSeconds: grace.graceSeconds ?? 0, change: { images: grace.containerImages ?? {}, labels, annotations } }
}

export function writeGrace({ revision, graceSeconds, change: { images, labels, annotations } }: InPlaceGrace): string {
  const metaDataPatch = Buffer.from(JSON.stringify({ metadata: { labels, annotations } })).toString('base64')
  const stored: StoredGrace = { revision, containerImages: images, metaDataPatch, graceSeconds }
  return JSON.stringify(stored)
}

function metadataOf(encoded: string | undefined): { labels?: TextsPatch; annotations?: TextsPatch } {
  if (!encoded) return {}
  try {
    return (JSON.parse(Buffer.from(encoded, 'base64').toString()) as { metadata?: object }).metadata ?? {}
  } catch {
    return {} // the images are still to be changed
  }
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
    if (!status?.imageID) return `container ${name} has not started with ${wanted} yet`
    if (sameImage(status.image, wanted)) continue
    const isOld = status.imageID === state.lastContainerStatuses[name]!.imageID || state.supersededImages?.[name]?.some((image) => sameImage(status.image, image))
    if (isOld) return `container ${name} still has the image ${status.image}`
  }
  return undefined
}
