import { type Condition, type Saying, type StoredCondition, findCondition, renewCondition, setTimedCondition } from './conditions.ts'
import { millisecondsOf } from '../../../api/timestamp.ts'

/** The deadline that never comes: what an unset one is defaulted to. */
export const noDeadline = 2_147_483_647

export const hasDeadline = (seconds: number | undefined): seconds is number => seconds !== undefined && seconds !== noDeadline

/** How far a rollout has come. */
export interface Headway {
  /** Pods of the revision that is rolled out. */
  updated: number
  /** Pods that are ready, of whichever revision. */
  ready: number
  /** Pods that are available, of whichever revision. */
  available: number
  /** Pods of other revisions that are still there. */
  old: number
}

/** The same from the numbers of a status. */
export const headwayOf = ({ updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0, replicas = 0 }: ReplicaCounts): Headway => ({
  updated: updatedReplicas,
  ready: readyReplicas,
  available: availableReplicas,
  old: replicas - updatedReplicas,
})

interface ReplicaCounts {
  replicas?: number
  updatedReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
}

/** Whether there is progress between two looks: more that is wanted, or less that is not. */
export const hasMoved = (before: Headway, after: Headway): boolean =>
  after.updated > before.updated || after.old < before.old || after.ready > before.ready || after.available > before.available

/** The words of one kind of workload for the stages that all have. */
export interface ProgressReasons {
  /** `NewReplicaSetAvailable`, `NewRevisionAvailable`. */
  complete: string
  /** `ReplicaSetUpdated`, `ReplicasUpdated`. */
  moving: string
}

export const deadlineExceeded = 'ProgressDeadlineExceeded'

/** Where a rollout stands, as its kind sees it. */
export interface Rollout {
  deadlineSeconds: number | undefined
  reasons: ProgressReasons
  /** Every replica is updated and available, and no old one is left. */
  isComplete: boolean
  /** It has moved since its status was written. */
  hasMoved: boolean
  /** Nothing is to be expected of it for now, so that its time does not pass: it is paused, or held by a partition. */
  isHeld?: boolean
  /** `waiting` is said while nothing moves, under the reason that there is: nobody has to wait for the deadline to hear why. Default: the old words. */
  messages: { complete: string; moving: string; exceeded: string; waiting?: string }
}

/** What to say about the progress of a workload, and when to look again even if nothing happens. */
export interface Progress {
  conditions: Condition[]
  /** Undefined where no deadline runs. */
  deadlineInMs: number | undefined
}

/**
 * Decides what Progressing says. Once complete it stays so, whatever becomes of the pods (that is for Available to tell), until somebody who knows of
 * a new revision, a scale or a resume has set another reason. Only real progress moves the clock, which is the condition's lastUpdateTime: so it
 * neither stops nor starts anew with the process that looks at it.
 */
export function decideProgress(conditions: readonly StoredCondition[] | null | undefined, rollout: Rollout, nowMs: number): Progress {
  const { reasons, deadlineSeconds, messages } = rollout
  const current = findCondition(conditions, 'Progressing')
  const kept = [...((conditions ?? []) as Condition[])]
  if (current?.reason === reasons.complete && current.status === 'True') return { conditions: kept, deadlineInMs: undefined }
  const say = (status: Saying['status'], reason: string, message: string): Saying => ({ type: 'Progressing', status, reason, message })
  if (rollout.isComplete) return { conditions: setTimedCondition(conditions, say('True', reasons.complete, messages.complete), nowMs), deadlineInMs: undefined }
  if (rollout.hasMoved) {
    const moved = renewCondition(conditions, say('True', reasons.moving, messages.moving), nowMs)
    return { conditions: moved, deadlineInMs: rollout.isHeld ? undefined : untilDeadline(findCondition(moved, 'Progressing'), deadlineSeconds, nowMs) }
  }
  if (!current || rollout.isHeld) return { conditions: kept, deadlineInMs: undefined }
  const deadlineInMs = untilDeadline(current, deadlineSeconds, nowMs)
  const isExceeded = current.reason === deadlineExceeded || (deadlineInMs !== undefined && deadlineInMs <= 0)
  if (!isExceeded) return { conditions: reworded(kept, current, messages.waiting, nowMs), deadlineInMs }
  return { conditions: setTimedCondition(conditions, say('False', deadlineExceeded, messages.exceeded), nowMs), deadlineInMs: undefined }
}

/** Other words do not move the clock. One that has failed for good keeps saying why. */
function reworded(conditions: Condition[], current: Condition, message: string | undefined, nowMs: number): Condition[] {
  if (message === undefined || current.status !== 'True') return conditions
  return setTimedCondition(conditions, { type: current.type, status: 'True', reason: current.reason ?? '', message }, nowMs)
}

/** What is left of the time of a rollout whose Progressing condition is this; undefined where its time does not run. */
export function untilDeadline(progressing: Condition | undefined, deadlineSeconds: number | undefined, nowMs: number): number | undefined {
  if (!progressing || progressing.status === 'False' || !hasDeadline(deadlineSeconds)) return undefined
  const sinceMs = millisecondsOf(progressing.lastUpdateTime)
  return Number.isNaN(sinceMs) ? undefined : sinceMs + deadlineSeconds * 1000 - nowMs
}

