import { countOf } from '../../api/printing/plural.ts'
import type { Action } from './apply.ts'
import type { Instances } from './instances.ts'
import { type ActiveMember, specifiedDeleteLabel } from './member.ts'
import { type InPlaceVerdict, inPlaceUpdateOf, inPlaceVerdict } from './in-place.ts'
import type { Derived } from './derive.ts'
import type { PatchLifecycle } from './lifecycle.ts'
import { part } from './scale.ts'
import { inUpdateOrder } from './update-order.ts'

/** The actions that update pods, and the pods that are deleted for it. */
export interface Update {
  actions: readonly Action[]
  gone: readonly ActiveMember[]
  /** Pods that are updated in place. */
  changed: readonly ActiveMember[]
  /** The reason why no more pods are updated yet. */
  wait?: string
}

const nothing: Update = { actions: [], gone: [], changed: [] }

/** Updates outdated pods, within the partition and the allowed unavailability. */
export function updatePods(seen: Derived, instances: Instances): Update {
  const { bounds, goal, tally } = seen
  const count = goal.toUpdate - tally.outdated.asked
  if (!bounds.isUpdating || count <= 0) return nothing
  const room = roomOf(seen)
  if (room.updated <= 0) return { ...nothing, wait: waitText(seen) }
  const chosen = withinRoom(inUpdateOrder(seen.members, seen.set.spec.updateStrategy), count, room)
  const update = changePods(seen, instances, chosen)
  return chosen.length === 0 && seen.members.candidates.size > 0 ? { ...update, wait: waitText(seen) } : update
}

interface Room {
  /** The remaining allowance for unavailable pods of the new revision. */
  updated: number
  /** The remaining allowance for unavailable pods. */
  all: number
  /** The remaining allowance for pods that are not ready. */
  ready: number
}

function roomOf({ goal: { mayBeUnavailable }, counts }: Derived): Room {
  const { replicas, readyReplicas, availableReplicas, updatedReplicas, updatedAvailableReplicas } = counts
  return {
    updated: mayBeUnavailable - (updatedReplicas - updatedAvailableReplicas),
    all: mayBeUnavailable - (replicas - availableReplicas),
    ready: mayBeUnavailable - (replicas - readyReplicas),
  }
}

/**
 * Selects members in order, at most `count`, until one would exceed the allowance. An unavailable pod costs nothing,
 * unless it is ready: it then serves users, and needs the allowance for pods that are not ready.
 */
function withinRoom(members: Iterable<ActiveMember>, count: number, room: Room): ActiveMember[] {
  const chosen: ActiveMember[] = []
  let { all, ready } = room
  for (const member of members) {
    if (chosen.length >= count || chosen.length >= room.updated) break
    if (member.isAvailable && all-- <= 0) break
    if (member.isReady && ready-- <= 0) break
    chosen.push(member)
  }
  return chosen
}

function waitText({ goal, counts: { replicas, availableReplicas } }: Derived): string {
  const unavailable = countOf(replicas - availableReplicas, 'pod is', 'pods are')
  return `${unavailable} unavailable, of ${Math.max(0, goal.mayBeUnavailable)} that may be`
}

/**
 * Updates pods in place if the strategy requires it and it is possible. Otherwise replaces them if the strategy allows
 * it.
 */
function changePods(seen: Derived, instances: Instances, members: readonly ActiveMember[]): Update {
  const { set, nowMs, revisions } = seen
  const { type } = set.spec.updateStrategy
  const isInPlace = type === 'InPlaceIfPossible' || type === 'InPlaceOnly'
  const verdictOn = verdictsOf(seen)
  const actions: Action[] = []
  const replaced: ActiveMember[] = []
  const changed: ActiveMember[] = []
  let wait: string | undefined
  for (const member of members) {
    const way = isInPlace ? inPlaceUpdateOf(set, member, verdictOn(member.hash), revisions.update, nowMs) : undefined
    if (way?.kind === 'act') {
      actions.push(way.action)
      if (way.action.kind === 'UpdateInPlace') changed.push(member)
    } else if (way?.kind === 'impossible' && type === 'InPlaceOnly')
      actions.push({ kind: 'RefuseUpdate', pod: member.pod, why: way.why })
    else if (way?.kind === 'wait') wait ??= way.why
    else replaced.push(member)
  }
  const { actions: partings, gone } = part(seen, instances, replaced)
  return {
    actions: [...actions, ...partings.map((action) => (action.kind === 'PatchLifecycle' ? marked(action) : action))],
    gone,
    changed,
    ...(wait === undefined ? {} : { wait }),
  }
}

/** Compares the template of each revision with the update revision once. */
function verdictsOf({ revisions }: Derived): (hash: string) => InPlaceVerdict {
  const verdicts = new Map<string, InPlaceVerdict>()
  return (hash) => {
    const verdict = verdicts.get(hash) ?? inPlaceVerdict(revisions.byHash(hash)?.template, revisions.update.template)
    verdicts.set(hash, verdict)
    return verdict
  }
}

/** Adds the specified-delete label, so that the pod is deleted although the set is not scaled down. */
function marked({ pod, patch, ...rest }: PatchLifecycle): PatchLifecycle {
  const { metadata = {} } = (patch.pod ?? {}) as { metadata?: { labels?: object } }
  const labels = { ...metadata.labels, [specifiedDeleteLabel]: 'true' }
  return { ...rest, pod, patch: { ...patch, pod: { ...patch.pod, metadata: { ...metadata, labels } } } }
}
