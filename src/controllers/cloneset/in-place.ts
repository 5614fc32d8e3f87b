import type { CloneSet, LifecycleHook, Pod } from '../../api/generated/types.ts'
import { graceAnnotation, inPlaceUpdateReady, readState, unfinishedUpdate } from '../../api/kinds/in-place-update.ts'
import { hookWait, isHeld } from '../../api/kinds/lifecycle-hooks.ts'
import { findCondition, isConditionTrue, millisecondsOf, revisionHashLabel } from '../kit/workload/index.ts'
import type { PatchLifecycle, PodPatch, UpdateInPlace } from './actions.ts'
import type { InPlaceChange, InPlaceVerdict } from './in-place-change.ts'
import { readGrace } from './in-place-grace.ts'
import { type MetadataPatch, changePatch, gracePatch, merge } from './in-place-patch.ts'
import { enterState, nextState, stateMetadata } from './lifecycle.ts'
import { gatesPatch, hasUpdateGate, hookGate, openUpdateGate, shutUpdateGate } from './lifecycle-gates.ts'
import type { Member } from './member.ts'
import { type Revision, hashOfName, revisionLabels } from './revision.ts'

export interface Refreshed {
  action?: PatchLifecycle
  requeueAfterMs?: number
}

const nothing: Refreshed = {}

/**
 * Brings a pod's state up to date: its gate opened at first and when an update is through, its grace period ended, the next state of its life. `updateHash` is
 * the hash of the revision that is rolled out.
 */
export function refreshPod(set: CloneSet, { pod, state, hash }: Pick<Member, 'pod' | 'state' | 'hash'>, updateHash: string, nowMs: number): Refreshed {
  if (pod.metadata.annotations?.[graceAnnotation] !== undefined) return endGrace(pod, hash, nowMs)
  const isAtRest = (state === '' || state === 'Normal') && isConditionTrue(pod.status?.conditions, inPlaceUpdateReady)
  const isThrough = isAtRest || unfinishedUpdate(pod) === undefined
  const next = nextState(state, pod, set.spec.lifecycle ?? {}, { isUpdated: hash === updateHash, isThrough }) ?? state
  const gates = [...(isThrough ? openUpdateGate(pod) : []), ...hookGate(pod, next)]
  const patch: PodPatch = { ...gatesPatch(pod, gates, nowMs), ...(next === state ? {} : { pod: merge(pod, stateMetadata(next, nowMs)) }) }
  return patch.status || patch.pod ? { action: { kind: 'PatchLifecycle', pod, patch } } : nothing
}

function endGrace(pod: Pod, hash: string, nowMs: number): Refreshed {
  const act = (patch: object): Refreshed => ({ action: { kind: 'PatchLifecycle', pod, patch: { pod: patch } } })
  const [grace, state] = [readGrace(pod), readState(pod)]
  // What cannot be read, or is about another revision, is given up: the pod is updated anew.
  if (!grace || !state || hashOfName(grace.revision) !== hash) return act(merge(pod, {}, { [graceAnnotation]: null }))
  const gate = findCondition(pod.status?.conditions, inPlaceUpdateReady)
  // The note of the grace period may arrive after its sender gave it up and opened the gate again.
  const { status } = gate?.status === 'True' ? gatesPatch(pod, shutUpdateGate(pod, grace.revision), nowMs) : {}
  if (status) return { action: { kind: 'PatchLifecycle', pod, patch: { status } } }
  const shutMs = millisecondsOf(gate?.lastTransitionTime) || 0
  const leftMs = Math.max(shutMs, millisecondsOf(state.updateTimestamp)) + grace.graceSeconds * 1000 - nowMs
  return leftMs > 0 ? { requeueAfterMs: leftMs } : act(changePatch(pod, grace.change, state))
}

/** Whether a member may be chosen for an update now: not while it prepares for deletion or is in its grace period. */
export const mayUpdate = ({ pod, state }: Pick<Member, 'pod' | 'state'>): boolean =>
  state !== 'PreparingDelete' && pod.metadata.annotations?.[graceAnnotation] === undefined

export type InPlaceUpdate =
  /** A PatchLifecycle prepares it, so that its hook can let it go. */
  | { kind: 'act'; action: UpdateInPlace | PatchLifecycle }
  | { kind: 'wait'; why: string }
  | { kind: 'impossible'; why: string }

/** How a member comes to a revision without being replaced. The verdict is on the way there from the revision that it is of. */
export function inPlaceUpdateOf(set: CloneSet, { pod, state }: Pick<Member, 'pod' | 'state'>, verdict: InPlaceVerdict, to: Revision, nowMs: number): InPlaceUpdate {
  if ('obstacle' in verdict) return { kind: 'impossible', why: verdict.obstacle }
  const hooks = set.spec.lifecycle ?? {}
  const hook = hooks.inPlaceUpdate
  // The hook has let it go and not taken hold of it again: it is asked once more.
  if (state === 'Updated' && hook) return { kind: 'act', action: { kind: 'PatchLifecycle', pod, patch: heldAgain(pod, hook, nowMs) } }
  const why = state === 'PreparingUpdate' ? hookWait(hooks, pod) : undefined
  if (why !== undefined) return { kind: 'wait', why: `pod ${pod.metadata.name} ${why}` }
  const isToPrepare = state !== 'Updating' && isHeld(hook, pod)
  if (isToPrepare) return { kind: 'act', action: { kind: 'PatchLifecycle', pod, patch: enterState(pod, 'PreparingUpdate', hook, nowMs) } }
  const graceSeconds = set.spec.updateStrategy.inPlaceUpdateStrategy?.gracePeriodSeconds ?? 0
  // Where nobody waits for the state, and the gate says the same, a write less a pod is worth more than a label.
  const isTold = hook !== undefined || (state !== '' && state !== 'Normal') || !hasUpdateGate(pod)
  const metadata = isTold ? stateMetadata('Updating', nowMs) : { labels: {}, annotations: {} }
  return { kind: 'act', action: { kind: 'UpdateInPlace', pod, patch: beginUpdate(pod, verdict.change, to, metadata, graceSeconds, nowMs), revision: to.name } }
}

/** A pod in PreparingUpdate, with all that its hook holds it by. */
function heldAgain(pod: Pod, hook: LifecycleHook, nowMs: number): PodPatch {
  const { labels, annotations } = stateMetadata('PreparingUpdate', nowMs)
  const { finalizersHandler: finalizers = [], labelsHandler } = hook
  const metadata: MetadataPatch = { labels: { ...labels, ...labelsHandler }, annotations, ...(finalizers.length > 0 ? { finalizers } : {}) }
  return { ...gatesPatch(pod, hookGate(pod, 'PreparingUpdate', hook), nowMs), pod: merge(pod, metadata) }
}

/** The pod is taken out of service, and gets its images at once or, with a grace period, when that is over. */
function beginUpdate(pod: Pod, change: InPlaceChange, to: Revision, told: ReturnType<typeof stateMetadata>, graceSeconds: number, nowMs: number): PodPatch {
  const restarts = Object.keys(change.images).length > 0
  const labels = revisionLabels(to)
  const revision = labels[revisionHashLabel]!
  const state = { revision, updateTimestamp: new Date(nowMs).toISOString(), updateImages: restarts }
  const metadata = { labels: { ...labels, ...told.labels }, annotations: told.annotations }
  // Where no container is restarted, the pod serves on, and there is nothing to give it time for.
  const waits = restarts && graceSeconds > 0
  return {
    ...gatesPatch(pod, restarts ? shutUpdateGate(pod, revision) : [], nowMs),
    pod: waits ? gracePatch(pod, { revision, graceSeconds, change }, state, metadata) : changePatch(pod, change, state, metadata),
  }
}
