import { countOf } from '../../api/plural.ts'
import type { Action, PatchLifecycle } from './actions.ts'
import type { Instances } from './claims.ts'
import type { Seat } from './entry.ts'
import { type InPlaceVerdict, inPlaceVerdict } from './in-place-change.ts'
import { inPlaceUpdateOf } from './in-place.ts'
import type { Look } from './look.ts'
import { specifiedDeleteLabel } from './member.ts'
import { part } from './scale.ts'
import { inUpdateOrder } from './update-order.ts'

/** What is done so that pods come to the new revision, and which of them go for it now. */
export interface Update {
  actions: readonly Action[]
  gone: readonly Seat[]
  /** Those that are updated as they run. */
  changed: readonly Seat[]
  /** Why no more is done yet. */
  wait?: string
}

const nothing: Update = { actions: [], gone: [], changed: [] }

/** Brings outdated pods to the new revision, within the partition and what may be unavailable. */
export function updatePods(look: Look, instances: Instances): Update {
  const { seen, bounds, goal, tally } = look
  const count = goal.toUpdate - tally.outdated.asked
  if (!bounds.isUpdating || count <= 0) return nothing
  const room = roomOf(look)
  if (room.updated <= 0) return { ...nothing, wait: waitText(look) }
  const chosen = withinRoom(inUpdateOrder(seen.members, seen.set.spec.updateStrategy), count, room)
  const update = changePods(look, instances, chosen)
  return chosen.length === 0 && seen.members.candidates.size > 0 ? { ...update, wait: waitText(look) } : update
}

interface Room {
  /** How many more of the new revision may be unavailable. */
  updated: number
  /** How many more of all may be. */
  all: number
  /** How many more of all may be not ready. */
  ready: number
}

function roomOf({ goal: { mayBeUnavailable }, counts }: Look): Room {
  const { replicas, readyReplicas, availableReplicas, updatedReplicas, updatedAvailableReplicas } = counts
  return {
    updated: mayBeUnavailable - (updatedReplicas - updatedAvailableReplicas),
    all: mayBeUnavailable - (replicas - availableReplicas),
    ready: mayBeUnavailable - (replicas - readyReplicas),
  }
}

/**
 * In order, so many at most, until one would make too many unavailable. A pod that is not available itself costs
 * nothing, unless it is ready: then it serves users, and goes only while not too many pods are not ready.
 */
function withinRoom(members: Iterable<Seat>, count: number, room: Room): Seat[] {
  const chosen: Seat[] = []
  let { all, ready } = room
  for (const member of members) {
    if (chosen.length >= count || chosen.length >= room.updated) break
    if (member.isAvailable && all-- <= 0) break
    if (member.isReady && ready-- <= 0) break
    chosen.push(member)
  }
  return chosen
}

function waitText({ goal, counts: { replicas, availableReplicas } }: Look): string {
  const unavailable = countOf(replicas - availableReplicas, 'pod is', 'pods are')
  return `${unavailable} unavailable, of ${Math.max(0, goal.mayBeUnavailable)} that may be`
}

/** In place where the strategy wants it and it can be done; by another pod where it cannot and the strategy lets it. */
function changePods(look: Look, instances: Instances, members: readonly Seat[]): Update {
  const { seen: { set, nowMs }, revisions } = look
  const { type } = set.spec.updateStrategy
  const isInPlace = type === 'InPlaceIfPossible' || type === 'InPlaceOnly'
  const verdictOn = verdictsOf(look)
  const actions: Action[] = []
  const replaced: Seat[] = []
  const changed: Seat[] = []
  let wait: string | undefined
  for (const member of members) {
    const way = isInPlace ? inPlaceUpdateOf(set, member, verdictOn(member.hash), revisions.update, nowMs) : undefined
    if (way?.kind === 'act') {
      actions.push(way.action)
      if (way.action.kind === 'UpdateInPlace') changed.push(member)
    } else if (way?.kind === 'impossible' && type === 'InPlaceOnly') actions.push({ kind: 'RefuseUpdate', pod: member.pod, why: way.why })
    else if (way?.kind === 'wait') wait ??= way.why
    else replaced.push(member)
  }
  const { actions: partings, gone } = part(look, instances, replaced)
  return { actions: [...actions, ...partings.map((action) => (action.kind === 'PatchLifecycle' ? marked(action) : action))], gone, changed, ...(wait === undefined ? {} : { wait }) }
}

/** Whether pods of a revision can be updated in place: found out once for all of them. */
function verdictsOf({ revisions }: Look): (hash: string) => InPlaceVerdict {
  const verdicts = new Map<string, InPlaceVerdict>()
  return (hash) => {
    const verdict = verdicts.get(hash) ?? inPlaceVerdict(revisions.byHash(hash)?.template, revisions.update.template)
    verdicts.set(hash, verdict)
    return verdict
  }
}

/** A pod that is to be replaced says so: otherwise it would be kept, since it is not one too many. */
function marked({ pod, patch, ...rest }: PatchLifecycle): PatchLifecycle {
  const { metadata = {} } = (patch.pod ?? {}) as { metadata?: { labels?: object } }
  const labels = { ...metadata.labels, [specifiedDeleteLabel]: 'true' }
  return { ...rest, pod, patch: { ...patch, pod: { ...patch.pod, metadata: { ...metadata, labels } } } }
}
