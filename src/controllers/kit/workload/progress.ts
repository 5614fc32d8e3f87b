import { deadlineExceeded, deadlineLeftMs, leftOfDeadlineMs, rolloutState, waitingForDeletion } from '../../../api/rollout-clock.ts'
import { timestamp } from '../../../api/timestamp.ts'
import { type Condition, type ProgressMark, type Saying, type StoredCondition, findCondition, setClockedCondition } from './conditions.ts'

/** How far a rollout has come. The first three count pods of the revision that is rolled out, and no others. */
export interface Headway {
  updated: number
  ready: number
  available: number
  /** Pods of other revisions that are still there. */
  old: number
}

type Words = Omit<Saying, 'type'>

/** `60 seconds`, as messages write a deadline. */
export const secondsText = (seconds: number | undefined): string => (seconds === 1 ? '1 second' : `${seconds} seconds`)

/** Where a rollout stands, as its kind sees it. */
export interface Rollout {
  deadlineSeconds: number | undefined
  revision: string
  /** The replicas that are wanted. */
  desired: number
  headway: Headway
  /** The reason while pods come and go: `ReplicaSetUpdated`, `ReplicasUpdated`. */
  movingReason: string
  /** Starts the clock anew: a new revision, a scale, a resume, another partition. */
  beginning?: Words | undefined
  /**
   * Where the rollout began, if its first step has already brought it further than that: the next reconcile then says
   * that it moves. By default, what `headway` says.
   */
  start?: Headway | undefined
  /** The rollout is paused: its clock does not run. */
  paused?: Words | undefined
  /**
   * The rollout is complete, or held. It stays so until `beginning`, whatever becomes of the pods: Available tells of
   * them.
   */
  settled?: { reason: string; message: string } | undefined
  /** A pod that can never be made ends the progress before the deadline. */
  failed?: { reason: string; message: string } | undefined
  /**
   * Whether the numbers of the status have risen. Only asked where no mark is stored: older releases and stock servers
   * keep none.
   */
  hasRisen?: boolean
  /**
   * `waiting` is said under a reason while nothing moves; by default the same as `moving`, or what a resume has said.
   */
  messages: { moving: string; exceeded: string; waiting?: (reason: string) => string | undefined }
}

/**
 * Decides what the Progressing condition says. Its clock is `lastUpdateTime`, and `progress` is the furthest that the
 * rollout has come since the clock was last started: only a pod beyond that mark moves the clock. A pod that becomes
 * ready, crashes and becomes ready again does not. Both are stored, so that a restart of the controller changes
 * nothing. Whether the deadline has passed is judged anew at every reconcile, from the same start.
 */
export function decideProgress(conditions: readonly StoredCondition[] | null | undefined, rollout: Rollout, nowMs: number): Condition[] {
  const { settled, paused, failed, beginning, movingReason, messages } = rollout
  const stored = findCondition(conditions, 'Progressing')
  const say = (words: Words, clock: string | undefined, progress: ProgressMark | undefined): Condition[] =>
    setClockedCondition(conditions, { type: 'Progressing', ...words }, nowMs, clock, progress)
  const now = timestamp(nowMs)
  const fresh = markOf(rollout)
  if (paused) return say(paused, stored?.lastUpdateTime ?? now, stored?.progress ?? fresh)
  // A rollout that begins now has its clock and its mark from now.
  const first = rollout.start ? markOf({ ...rollout, headway: rollout.start }) : fresh
  const [current, clock, mark] = beginning ? [beginning, now, first] : [stored, stored?.lastUpdateTime, stored?.progress]
  if (!current) return [...((conditions ?? []) as Condition[])]
  const hasMoved = !beginning && (mark ? isBeyond(rollout.headway, mark) : rollout.hasRisen === true)
  const isFinal = rolloutState([{ ...current, type: 'Progressing' }]) === 'complete'
  if (settled && settled.reason !== current.reason && !isFinal) return say({ status: 'True', ...settled }, now, fresh)
  // Somebody has deleted a pod, and its successor is not available yet: what OnDelete held goes on for a while.
  const isReleased = current.reason === waitingForDeletion && hasMoved && !settled
  if (isSettled(current) && !isReleased) return [...((conditions ?? []) as Condition[])]
  if (failed) return say({ status: 'False', ...failed }, clock, mark ?? fresh)
  const moving: Words = { status: 'True', reason: movingReason, message: messages.moving }
  if (hasMoved) return say(moving, now, mark ? furthest(fresh, mark) : fresh)
  const leftMs = leftOfDeadlineMs(clock, rollout.deadlineSeconds, nowMs)
  if (leftMs !== undefined && leftMs <= 0) {
    return say({ status: 'False', reason: deadlineExceeded, message: messages.exceeded }, clock, mark ?? fresh)
  }
  return say(current.status === 'False' ? moving : waitingWords(current, rollout), clock, mark ?? fresh)
}

/** The words of now under the reason that there is. A rollout that was resumed says so until something moves. */
function waitingWords(
  { status, reason = '', message = '' }: Pick<Condition, 'status' | 'reason' | 'message'>, { messages }: Rollout,
): Words {
  const otherwise = status === 'True' ? messages.moving : message
  return { status: status as Saying['status'], reason, message: messages.waiting?.(reason) ?? otherwise }
}

const isSettled = (current: Pick<Condition, 'status' | 'reason'>): boolean => isRolloutSettled([{ ...current, type: 'Progressing' }])

/** True for a rollout that is complete or held, by what its conditions say. */
export function isRolloutSettled(conditions: readonly StoredCondition[] | null | undefined): boolean {
  const state = rolloutState(conditions)
  return state === 'complete' || state === 'held'
}

const markOf = ({ revision, desired, headway: { updated, ready, available, old } }: Rollout): ProgressMark => ({
  revision, desiredReplicas: desired, updatedReplicas: updated, readyReplicas: ready, availableReplicas: available, oldReplicas: old,
})

const isBeyond = (
  { updated, ready, available, old }: Headway,
  { updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0, oldReplicas = 0 }: ProgressMark,
): boolean =>
  updated > updatedReplicas || ready > readyReplicas || available > availableReplicas || old < oldReplicas

const furthest = (a: ProgressMark, b: ProgressMark): ProgressMark => ({
  ...a,
  updatedReplicas: Math.max(a.updatedReplicas ?? 0, b.updatedReplicas ?? 0),
  readyReplicas: Math.max(a.readyReplicas ?? 0, b.readyReplicas ?? 0),
  availableReplicas: Math.max(a.availableReplicas ?? 0, b.availableReplicas ?? 0),
  oldReplicas: Math.min(a.oldReplicas ?? 0, b.oldReplicas ?? 0),
})

interface ReplicaCounts {
  replicas?: number
  updatedReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
}

/** Whether the numbers of a status, of pods of every revision, have risen since they were written. */
export function hasRisen(before: ReplicaCounts, after: ReplicaCounts): boolean {
  const oldOf = ({ replicas = 0, updatedReplicas = 0 }: ReplicaCounts) => replicas - updatedReplicas
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) || oldOf(after) < oldOf(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) || (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  )
}

/** The time until the deadline passes if nothing happens; undefined where no clock runs, or it has passed. */
export function deadlineInMs(
  conditions: readonly StoredCondition[] | null | undefined, deadlineSeconds: number | undefined, nowMs: number,
): number | undefined {
  return deadlineLeftMs(conditions, deadlineSeconds, nowMs) || undefined
}
