import type { DaemonSetStatus, Pod } from '../../api/generated/types.ts'
import {
  type Headway, type Progress, type StoredCondition, blockedText, decideProgress, findCondition, hasDeadline, hasMoved, isPodTerminating, renewCondition,
  troubleText,
} from '../kit/workload/index.ts'
import { type Counts, countNodes } from './counts.ts'
import type { Observed } from './observe.ts'
import type { Place } from './places.ts'

const headway = (status: Partial<DaemonSetStatus>): Headway => {
  const { updatedNumberScheduled: updated = 0, numberReady: ready = 0, numberAvailable: available = 0 } = status
  return { updated, ready, available, old: (status.currentNumberScheduled ?? 0) - updated + (status.numberMisscheduled ?? 0) }
}

/** What Progressing says of a set, next to its other conditions. `failure` is what cannot be made, if something cannot. */
export function progressOf(seen: Observed, places: readonly Place[], counts: Counts, failure?: string): Progress {
  const { set, revision, nowMs } = seen
  const { progressDeadlineSeconds, updateStrategy } = set.spec
  const { desiredNumberScheduled: desired, updatedNumberScheduled: updated, numberAvailable: available } = counts
  const what = `revision ${revision.name}`
  const isSettled = available === desired && counts.numberMisscheduled === 0
  const moving = `${updated} of ${desired} nodes are at ${what}, ${available} are available.`
  const trouble = failure ? ` ${failure}.` : troubleText(podsOf(places)) || misplaced(places)
  return decideProgress(started(seen, counts), {
    deadlineSeconds: progressDeadlineSeconds,
    reasons: { complete: 'NewRevisionAvailable', moving: 'ReplicasUpdated' },
    isComplete: isSettled && updated === desired,
    hasMoved: hasMoved(headway(set.status), headway(counts)),
    // Who deletes the pods by hand takes the time that they take.
    isHeld: updateStrategy.type === 'OnDelete' && isSettled && updated < desired,
    messages: {
      complete: `All ${desired} nodes are available at ${what}.`,
      moving: moving + trouble,
      waiting: moving + trouble,
      exceeded: `No progress with ${what} for ${progressDeadlineSeconds} seconds.${trouble || blockedText(podsOf(places))}`,
    },
  }, nowMs)
}

function* podsOf(places: readonly Place[]): Generator<Pod> {
  for (const { pods } of places) yield* pods
}

/** The first pod that is not to be where it is. */
function misplaced(places: readonly Place[]): string {
  for (const { fit, node, pods } of places) {
    const pod = fit === 'stay' || fit === 'leave' ? pods.find((p) => !isPodTerminating(p)) : undefined
    if (pod) return ` Pod ${pod.metadata.name} is on node ${node}, which is not to run one.`
  }
  return ''
}

/** The conditions as they were, but for a clock that starts anew: with a new revision, or another number of nodes. */
function started({ set, revision, nowMs }: Observed, { desiredNumberScheduled: desired }: Counts): readonly StoredCondition[] | undefined {
  const { conditions, updateRevision, desiredNumberScheduled } = set.status
  const begin = (reason: string, message: string) => renewCondition(conditions, { type: 'Progressing', status: 'True', reason, message }, nowMs)
  const isNew = !findCondition(conditions, 'Progressing') || updateRevision !== revision.name
  if (isNew) return begin('NewRevisionCreated', `Rolling out revision ${revision.name}.`)
  if (desiredNumberScheduled === desired) return conditions
  return begin('ReplicasUpdated', `${desired} nodes are to be at revision ${revision.name}.`)
}

/** When the deadline passes if nothing happens. */
export function deadlineInMs(seen: Observed): number | undefined {
  if (!seen.hasConditions || !hasDeadline(seen.set.spec.progressDeadlineSeconds)) return undefined
  return progressOf(seen, seen.places, countNodes(seen, seen.places)).deadlineInMs
}
