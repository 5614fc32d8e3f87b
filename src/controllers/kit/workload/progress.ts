import { type KubeObject, timestamp } from '../../../api/object.ts'
import {
  deadlineExceeded,
  deadlineLeftMs,
  leftOfDeadlineMs,
  rolloutState,
  waitingForDeletion,
} from '../../../api/kinds/workloads/rollout-clock.ts'
import type { ApplyContext } from '../definition.ts'
import {
  type Condition,
  type ProgressMark,
  type Saying,
  type StoredCondition,
  findCondition,
  setClockedCondition,
} from './conditions.ts'

/** The progress of a rollout. The first three fields count pods of the target revision only. */
export interface Headway {
  updated: number
  ready: number
  available: number
  /** Pods of other revisions that still exist. */
  old: number
}

type Words = Omit<Saying, 'type'>

/** A deadline as messages show it: `60 seconds`. */
export const secondsText = (seconds: number | undefined): string => (seconds === 1 ? '1 second' : `${seconds} seconds`)

/** The state of a rollout as determined by its kind. */
export interface Rollout {
  deadlineSeconds: number | undefined
  revision: string
  /** The desired number of replicas. */
  desired: number
  headway: Headway
  /** The reason while pods are created and deleted: `ReplicaSetUpdated`, `ReplicasUpdated`. */
  movingReason: string
  /** Restarts the clock: a new revision, a scale, a resume, another partition. */
  beginning?: Words | undefined
  /**
   * The headway at the beginning, if the first step has already advanced beyond it. The next reconcile then reports
   * progress. Default: `headway`.
   */
  start?: Headway | undefined
  /** The rollout is paused, and its clock stops. */
  paused?: Words | undefined
  /**
   * The rollout is complete or held. This state lasts until the next `beginning`, whatever happens to the pods:
   * Available reports that.
   */
  settled?: { reason: string; message: string } | undefined
  /** A pod that can never be created ends the progress before the deadline. */
  failed?: { reason: string; message: string } | undefined
  /**
   * Set if the numbers of the status have risen. Used only without a stored mark, which older releases and stock API
   * servers do not keep.
   */
  hasRisen?: boolean
  /**
   * `waiting` is the message for a reason while nothing moves. Default: `moving`, or the stored message of a resume.
   */
  messages: { moving: string; exceeded: string; waiting?: (reason: string) => string | undefined }
}

/**
 * Computes the Progressing condition. Its clock is `lastUpdateTime`, and `progress` is the furthest point since the
 * clock was started. Only a pod beyond that mark moves the clock, so a pod that becomes ready, crashes and becomes
 * ready again does not. Both are stored, so a restart of the controller changes nothing. Each reconcile computes from
 * the same start whether the deadline has passed.
 */
export function decideProgress(
  conditions: readonly StoredCondition[] | null | undefined,
  rollout: Rollout,
  nowMs: number,
): Condition[] {
  const { settled, paused, failed, beginning, movingReason, messages } = rollout
  const stored = findCondition(conditions, 'Progressing')
  const say = (words: Words, clock: string | undefined, progress: ProgressMark | undefined): Condition[] =>
    setClockedCondition(conditions, { type: 'Progressing', ...words }, nowMs, { clock, mark: progress })
  const now = timestamp(nowMs)
  const fresh = markOf(rollout)
  if (paused) return say(paused, stored?.lastUpdateTime ?? now, stored?.progress ?? fresh)
  // The clock and the mark of a new rollout start now.
  const first = rollout.start ? markOf({ ...rollout, headway: rollout.start }) : fresh
  const [current, clock, mark] = beginning
    ? [beginning, now, first]
    : [stored, stored?.lastUpdateTime, stored?.progress]
  if (!current) return [...((conditions ?? []) as Condition[])]
  const hasMoved = !beginning && (mark ? isBeyond(rollout.headway, mark) : rollout.hasRisen === true)
  const isFinal = rolloutState([{ ...current, type: 'Progressing' }]) === 'complete'
  if (settled && settled.reason !== current.reason && !isFinal) return say({ status: 'True', ...settled }, now, fresh)
  // With OnDelete, a user has deleted a pod whose successor is not available yet: the held rollout continues.
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

/** The current message under the stored reason. A resumed rollout keeps its message until a pod moves. */
function waitingWords(
  { status, reason = '', message = '' }: Pick<Condition, 'status' | 'reason' | 'message'>,
  { messages }: Rollout,
): Words {
  const otherwise = status === 'True' ? messages.moving : message
  return { status: status as Saying['status'], reason, message: messages.waiting?.(reason) ?? otherwise }
}

const isSettled = (current: Pick<Condition, 'status' | 'reason'>): boolean =>
  isRolloutSettled([{ ...current, type: 'Progressing' }])

/** True if the conditions report a complete or held rollout. */
export function isRolloutSettled(conditions: readonly StoredCondition[] | null | undefined): boolean {
  const state = rolloutState(conditions)
  return state === 'complete' || state === 'held'
}

const markOf = ({ revision, desired, headway: { updated, ready, available, old } }: Rollout): ProgressMark => ({
  revision,
  desiredReplicas: desired,
  updatedReplicas: updated,
  readyReplicas: ready,
  availableReplicas: available,
  oldReplicas: old,
})

const isBeyond = (
  { updated, ready, available, old }: Headway,
  { updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0, oldReplicas = 0 }: ProgressMark,
): boolean => updated > updatedReplicas || ready > readyReplicas || available > availableReplicas || old < oldReplicas

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

/** Reports whether the numbers of a status, over all revisions, have risen since it was written. */
export function hasRisen(before: ReplicaCounts, after: ReplicaCounts): boolean {
  const oldOf = ({ replicas = 0, updatedReplicas = 0 }: ReplicaCounts) => replicas - updatedReplicas
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldOf(after) < oldOf(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  )
}

/** The time until the deadline passes. Undefined if no clock runs, or the deadline has passed. */
export function deadlineInMs(
  conditions: readonly StoredCondition[] | null | undefined,
  deadlineSeconds: number | undefined,
  nowMs: number,
): number | undefined {
  return deadlineLeftMs(conditions, deadlineSeconds, nowMs) || undefined
}

interface Told {
  conditions?: readonly StoredCondition[] | null
}

/**
 * Emits events about a rollout: a Warning when its deadline passes, a Normal event when it continues after that or
 * completes.
 */
export function announceProgress(
  { event }: Pick<ApplyContext<KubeObject>, 'event'>,
  before: Told | undefined,
  after: Told,
): void {
  const [was, is] = [before, after].map((status) => findCondition(status?.conditions, 'Progressing'))
  if (!is || (was?.reason === is.reason && was?.status === is.status)) return
  const { reason = '', message = '' } = is
  if (is.reason === deadlineExceeded) event('Warning', reason, message)
  else if (rolloutState(after.conditions) === 'complete') event('Normal', 'RolloutComplete', message)
  else if (rolloutState(after.conditions) === 'running' && hasGoneOn(was, is)) {
    event('Normal', 'RolloutRecovered', 'The rollout makes progress again.')
  }
}

/** A longer deadline or a new rollout is not a recovery. Only a clock that moved because of pods is. */
const hasGoneOn = (was: StoredCondition | undefined, is: StoredCondition): boolean =>
  was?.status === 'False' &&
  is.status === 'True' &&
  movingReasons.has(is.reason ?? '') &&
  was.lastUpdateTime !== is.lastUpdateTime &&
  was.progress?.revision === is.progress?.revision

const movingReasons: ReadonlySet<string> = new Set(['ReplicaSetUpdated', 'ReplicasUpdated'])
