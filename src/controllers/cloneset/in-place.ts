import { differingPath } from '../../api/deep-equal.ts'
import type { CloneSet, Container, LifecycleHook, Pod, PodTemplateSpec } from '../../api/generated/types.ts'
import {
  type InPlaceState,
  graceAnnotation,
  inPlaceUpdateReady,
  readNote,
  readState,
  stateAnnotation,
  unfinishedUpdate,
  writeState,
} from '../../api/kinds/pods/in-place-update.ts'
import { type LifecycleState, hookWait, isHeld } from '../../api/kinds/containers/lifecycle-hooks.ts'
import { findCondition, isConditionTrue, millisecondsOf, revisionHashLabel } from '../kit/workload/index.ts'
import {
  type PatchLifecycle,
  type PodPatch,
  enterState,
  gatesPatch,
  hasUpdateGate,
  hookGate,
  nextState,
  openUpdateGate,
  shutUpdateGate,
  stateMetadata,
} from './lifecycle.ts'
import { type Revision, hashOfName, revisionLabels } from './revisions.ts'

/** Updates a pod to another revision in place. */
export interface UpdateInPlace {
  kind: 'UpdateInPlace'
  pod: Pod
  patch: PodPatch
  /** The name of the target revision. */
  revision: string
}

/** The facts of a pod that decide about its update: its lifecycle state, and the hash of its revision. */
interface Subject {
  pod: Pod
  state: LifecycleState
  hash: string
}

type Texts = Readonly<Record<string, string>>
/** By key. Null removes the key. */
type TextsPatch = Record<string, string | null>

/** The changes that turn a pod of one revision into a pod of another without replacing it. */
export interface InPlaceChange {
  /** New images by container name. */
  images: Record<string, string>
  labels: TextsPatch
  annotations: TextsPatch
}

/** A change that a running pod supports, or the first field that it does not. */
export type InPlaceVerdict = { change: InPlaceChange } | { obstacle: string }

/** Compares two templates. An in-place update may change container images, labels and annotations only. */
export function inPlaceVerdict(from: PodTemplateSpec | undefined, to: PodTemplateSpec): InPlaceVerdict {
  if (!from) return { obstacle: 'the revision that it was made from is not known any more' }
  const [before, after] = [from.spec?.containers ?? [], to.spec?.containers ?? []]
  const images = changedImages(before, after)
  const withImages = {
    ...from.spec,
    containers: before.map((c) => ({ ...c, ...(c.name in images ? { image: images[c.name]! } : {}) })),
  }
  const path = differingPath(rest(from), rest(to), '/metadata') ?? differingPath(withImages, to.spec, '/spec')
  if (path !== undefined) return { obstacle: `${path} has changed` }
  return {
    change: {
      images,
      labels: textsPatch(from.metadata?.labels, to.metadata?.labels),
      annotations: textsPatch(from.metadata?.annotations, to.metadata?.annotations),
    },
  }
}

/** Containers are compared by position and name, which never change for a pod. */
function changedImages(before: readonly Container[], after: readonly Container[]): Record<string, string> {
  const images: Record<string, string> = {}
  for (const [i, { name, image }] of after.entries()) {
    const old = before[i]
    if (old?.name === name && old.image && image && old.image !== image) images[name] = image
  }
  return images
}

function rest({ metadata }: PodTemplateSpec): object {
  const { labels: _labels, annotations: _annotations, creationTimestamp: _time, ...others } = metadata ?? {}
  return others
}

function textsPatch(from: Texts = {}, to: Texts = {}): TextsPatch {
  const patch: TextsPatch = {}
  for (const [key, value] of Object.entries(to)) if (from[key] !== value) patch[key] = value
  for (const key of Object.keys(from)) if (!(key in to)) patch[key] = null
  return patch
}

/** An in-place update during its grace period, as recorded on the pod. */
export interface InPlaceGrace {
  revision: string
  graceSeconds: number
  change: InPlaceChange
}

/** OpenKruise's format: the metadata is an encoded merge patch. */
interface StoredGrace {
  revision: string
  containerImages: Record<string, string>
  metaDataPatch: string
  graceSeconds: number
}

export function readGrace(pod: Pod): InPlaceGrace | undefined {
  const grace = readNote<StoredGrace>(pod, graceAnnotation)
  if (!grace?.revision) return undefined
  const { labels = {}, annotations = {} } = metadataOf(grace.metaDataPatch)
  return {
    revision: grace.revision,
    graceSeconds: grace.graceSeconds ?? 0,
    change: { images: grace.containerImages ?? {}, labels, annotations },
  }
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
    return {} // the images still have to be changed
  }
}

interface MetadataPatch {
  labels?: object
  annotations?: object
  finalizers?: readonly string[]
}

/** A strategic merge for the metadata of this pod. */
const merge = (pod: Pod, metadata: MetadataPatch, annotations: object = {}): { metadata: object } => ({
  metadata: { uid: pod.metadata.uid, ...metadata, annotations: { ...metadata.annotations, ...annotations } },
})

/** The recorded state at the beginning of an update. */
type NewState = Pick<InPlaceState, 'revision' | 'updateTimestamp' | 'updateImages'>

/** Records on the pod the change to apply when its grace period is over. */
const gracePatch = (pod: Pod, grace: InPlaceGrace, state: NewState, metadata: MetadataPatch): object =>
  merge(pod, metadata, {
    [stateAnnotation]: writeState({ ...state, ...unfinishedOf(pod) }),
    [graceAnnotation]: writeGrace(grace),
  })

/**
 * The change itself. It records the current image IDs of the containers that it restarts, which later show that they
 * were restarted.
 */
function changePatch(
  pod: Pod,
  { images, labels, annotations }: InPlaceChange,
  state: NewState,
  metadata: MetadataPatch = {},
): object {
  const next: InPlaceState = { ...state, ...unfinishedOf(pod, images) }
  for (const name of Object.keys(images)) {
    const imageID = pod.status?.containerStatuses?.find((c) => c.name === name)?.imageID
    next.lastContainerStatuses[name] = imageID ? { imageID } : {}
  }
  const notes = {
    [stateAnnotation]: writeState(next),
    ...(graceAnnotation in (pod.metadata.annotations ?? {}) ? { [graceAnnotation]: null } : {}),
  }
  // Metadata of the set takes precedence over metadata of the template.
  const patch = merge(
    pod,
    {
      ...metadata,
      labels: { ...labels, ...metadata.labels },
      annotations: { ...annotations, ...metadata.annotations },
    },
    notes,
  )
  const containers = Object.entries(images).map(([name, image]) => ({ name, image }))
  return containers.length > 0 ? { ...patch, spec: { containers } } : patch
}

/**
 * The unfinished part of the previous update, which the next one takes over: containers may still start with the
 * previous image.
 */
function unfinishedOf(
  pod: Pod,
  images: Readonly<Record<string, string>> = {},
): Pick<InPlaceState, 'lastContainerStatuses' | 'supersededImages'> {
  const last = unfinishedUpdate(pod) === undefined ? undefined : readState(pod)
  if (!last) return { lastContainerStatuses: {} }
  const superseded = { ...last.supersededImages }
  for (const { name, image } of pod.spec.containers)
    if (image && name in images) {
      superseded[name] = [...new Set([...(superseded[name] ?? []), image])]
    }
  return {
    lastContainerStatuses: { ...last.lastContainerStatuses },
    ...(Object.keys(superseded).length > 0 ? { supersededImages: superseded } : {}),
  }
}

export interface Refreshed {
  action?: PatchLifecycle
  requeueAfterMs?: number
}

const nothing: Refreshed = {}

/**
 * Updates the state of a pod: opens its gate initially and after an update, ends its grace period, and enters the next
 * lifecycle state. `updateHash` is the hash of the update revision.
 */
export function refreshPod(set: CloneSet, { pod, state, hash }: Subject, updateHash: string, nowMs: number): Refreshed {
  if (pod.metadata.annotations?.[graceAnnotation] !== undefined) return endGrace(pod, hash, nowMs)
  const isAtRest = (state === '' || state === 'Normal') && isConditionTrue(pod.status?.conditions, inPlaceUpdateReady)
  const isThrough = isAtRest || unfinishedUpdate(pod) === undefined
  const next = nextState(state, pod, set.spec.lifecycle ?? {}, { isUpdated: hash === updateHash, isThrough }) ?? state
  const gates = [...(isThrough ? openUpdateGate(pod) : []), ...hookGate(pod, next)]
  const patch: PodPatch = {
    ...gatesPatch(pod, gates, nowMs),
    ...(next === state ? {} : { pod: merge(pod, stateMetadata(next, nowMs)) }),
  }
  return patch.status || patch.pod ? { action: { kind: 'PatchLifecycle', pod, patch } } : nothing
}

function endGrace(pod: Pod, hash: string, nowMs: number): Refreshed {
  const act = (patch: object): Refreshed => ({ action: { kind: 'PatchLifecycle', pod, patch: { pod: patch } } })
  const [grace, state] = [readGrace(pod), readState(pod)]
  // A record that cannot be parsed, or that is for another revision, is discarded, and the pod is updated again.
  if (!grace || !state || hashOfName(grace.revision) !== hash) return act(merge(pod, {}, { [graceAnnotation]: null }))
  const gate = findCondition(pod.status?.conditions, inPlaceUpdateReady)
  // The record of a grace period may arrive after its sender gave it up and opened the gate again.
  const { status } = gate?.status === 'True' ? gatesPatch(pod, shutUpdateGate(pod, grace.revision), nowMs) : {}
  if (status) return { action: { kind: 'PatchLifecycle', pod, patch: { status } } }
  const shutMs = millisecondsOf(gate?.lastTransitionTime) || 0
  const leftMs = Math.max(shutMs, millisecondsOf(state.updateTimestamp)) + grace.graceSeconds * 1000 - nowMs
  return leftMs > 0 ? { requeueAfterMs: leftMs } : act(changePatch(pod, grace.change, state))
}

/** Reports whether a pod may be chosen for an update: not while it prepares for deletion or is in its grace period. */
export const mayUpdate = ({ pod, state }: Pick<Subject, 'pod' | 'state'>): boolean =>
  state !== 'PreparingDelete' && pod.metadata.annotations?.[graceAnnotation] === undefined

export type InPlaceUpdate =
  /** A PatchLifecycle prepares the pod, so that its hook can release it. */
  | { kind: 'act'; action: UpdateInPlace | PatchLifecycle }
  | { kind: 'wait'; why: string }
  | { kind: 'impossible'; why: string }

/** Decides how a pod is updated in place. The verdict compares its revision with the target. */
export function inPlaceUpdateOf(
  set: CloneSet,
  { pod, state }: Pick<Subject, 'pod' | 'state'>,
  verdict: InPlaceVerdict,
  to: Revision,
  nowMs: number,
): InPlaceUpdate {
  if ('obstacle' in verdict) return { kind: 'impossible', why: verdict.obstacle }
  const hooks = set.spec.lifecycle ?? {}
  const hook = hooks.inPlaceUpdate
  // The hook has released the pod and does not hold it again: it is asked once more.
  if (state === 'Updated' && hook) {
    return { kind: 'act', action: { kind: 'PatchLifecycle', pod, patch: heldAgain(pod, hook, nowMs) } }
  }
  const why = state === 'PreparingUpdate' ? hookWait(hooks, pod) : undefined
  if (why !== undefined) return { kind: 'wait', why: `pod ${pod.metadata.name} ${why}` }
  const isToPrepare = state !== 'Updating' && isHeld(hook, pod)
  if (isToPrepare) {
    return {
      kind: 'act',
      action: {
        kind: 'PatchLifecycle',
        pod,
        patch: enterState(pod, 'PreparingUpdate', hook, nowMs),
      },
    }
  }
  const graceSeconds = set.spec.updateStrategy.inPlaceUpdateStrategy?.gracePeriodSeconds ?? 0
  // If no hook waits for the state, and the gate shows the same, the label is omitted to save a write per pod.
  const isTold = hook !== undefined || (state !== '' && state !== 'Normal') || !hasUpdateGate(pod)
  const metadata = isTold ? stateMetadata('Updating', nowMs) : { labels: {}, annotations: {} }
  return {
    kind: 'act',
    action: {
      kind: 'UpdateInPlace',
      pod,
      patch: beginUpdate(pod, verdict.change, to, metadata, graceSeconds, nowMs),
      revision: to.name,
    },
  }
}

/** The patch that returns a pod to PreparingUpdate with everything that its hook holds it by. */
function heldAgain(pod: Pod, hook: LifecycleHook, nowMs: number): PodPatch {
  const { labels, annotations } = stateMetadata('PreparingUpdate', nowMs)
  const { finalizersHandler: finalizers = [], labelsHandler } = hook
  const metadata: MetadataPatch = {
    labels: { ...labels, ...labelsHandler },
    annotations,
    ...(finalizers.length > 0 ? { finalizers } : {}),
  }
  return { ...gatesPatch(pod, hookGate(pod, 'PreparingUpdate', hook), nowMs), pod: merge(pod, metadata) }
}

/** Takes the pod out of service, and changes its images at once or, with a grace period, afterwards. */
function beginUpdate(
  pod: Pod,
  change: InPlaceChange,
  to: Revision,
  told: ReturnType<typeof stateMetadata>,
  graceSeconds: number,
  nowMs: number,
): PodPatch {
  const restarts = Object.keys(change.images).length > 0
  const labels = revisionLabels(to)
  const revision = labels[revisionHashLabel]!
  const state = { revision, updateTimestamp: new Date(nowMs).toISOString(), updateImages: restarts }
  const metadata = { labels: { ...labels, ...told.labels }, annotations: told.annotations }
  // If no container restarts, the pod stays in service and needs no grace period.
  const waits = restarts && graceSeconds > 0
  return {
    ...gatesPatch(pod, restarts ? shutUpdateGate(pod, revision) : [], nowMs),
    pod: waits
      ? gracePatch(pod, { revision, graceSeconds, change }, state, metadata)
      : changePatch(pod, change, state, metadata),
  }
}
