import type { Pod } from '../../api/generated/types.ts'
import { type InPlaceState, graceAnnotation, readState, stateAnnotation, unfinishedUpdate, writeState } from '../../api/kinds/in-place-update.ts'
import type { InPlaceChange } from './in-place-change.ts'
import { type InPlaceGrace, writeGrace } from './in-place-grace.ts'

export interface MetadataPatch {
  labels?: object
  annotations?: object
  finalizers?: readonly string[]
}

/** A strategic merge into this very pod's metadata. */
export const merge = (pod: Pod, metadata: MetadataPatch, annotations: object = {}): { metadata: object } => ({
  metadata: { uid: pod.metadata.uid, ...metadata, annotations: { ...metadata.annotations, ...annotations } },
})

/** An update as it begins. */
export type NewState = Pick<InPlaceState, 'revision' | 'updateTimestamp' | 'updateImages'>

/** Notes on a pod what is to be changed when its grace period is over. */
export const gracePatch = (pod: Pod, grace: InPlaceGrace, state: NewState, metadata: MetadataPatch): object =>
  merge(pod, metadata, { [stateAnnotation]: writeState({ ...state, ...unfinishedOf(pod) }), [graceAnnotation]: writeGrace(grace) })

/** The change itself. How the containers are that it restarts is noted with it: by that it is seen when they were. */
export function changePatch(pod: Pod, { images, labels, annotations }: InPlaceChange, state: NewState, metadata: MetadataPatch = {}): object {
  const next: InPlaceState = { ...state, ...unfinishedOf(pod, images) }
  for (const name of Object.keys(images)) {
    const imageID = pod.status?.containerStatuses?.find((c) => c.name === name)?.imageID
    next.lastContainerStatuses[name] = imageID ? { imageID } : {}
  }
  const notes = { [stateAnnotation]: writeState(next), ...(graceAnnotation in (pod.metadata.annotations ?? {}) ? { [graceAnnotation]: null } : {}) }
  // What the set itself says of the pod goes before what its template says.
  const patch = merge(pod, { ...metadata, labels: { ...labels, ...metadata.labels }, annotations: { ...annotations, ...metadata.annotations } }, notes)
  const containers = Object.entries(images).map(([name, image]) => ({ name, image }))
  return containers.length > 0 ? { ...patch, spec: { containers } } : patch
}

/** What the update before has left to be done, which the next one takes over: containers may still come up with what they were told to run then. */
function unfinishedOf(pod: Pod, images: Readonly<Record<string, string>> = {}): Pick<InPlaceState, 'lastContainerStatuses' | 'supersededImages'> {
  const last = unfinishedUpdate(pod) === undefined ? undefined : readState(pod)
  if (!last) return { lastContainerStatuses: {} }
  const superseded = { ...last.supersededImages }
  for (const { name, image } of pod.spec.containers) if (image && name in images) superseded[name] = [...new Set([...(superseded[name] ?? []), image])]
  return { lastContainerStatuses: { ...last.lastContainerStatuses }, ...(Object.keys(superseded).length > 0 ? { supersededImages: superseded } : {}) }
}
