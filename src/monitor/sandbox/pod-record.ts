import type { SandboxObservation } from '../observation.ts'
import type { SandboxView } from './sandbox-view.ts'
import type { Lack } from './user-objects.ts'

/** The recorded history of a pod's sandboxes. Times are those of the pod's conditions. */
export interface PodRecord {
  scheduledAtMs?: number
  /** The first readiness. Undefined also if it was before the first observation. */
  firstReadyAtMs?: number
  /** The latest readiness. */
  readyAtMs?: number
  /** True if the ready sandbox is gone, and no other is ready. */
  lostAtMs?: number
  recreations: number
  /** The end of the time within which it should have become ready. */
  failedAtMs?: number
  /** The time at which it was deleted or finished without having been ready. */
  abandonedAtMs?: number
  deletedAtMs?: number
  /** The time at which it finished, as far as known. */
  finishedAtMs?: number
  terminatedAtMs?: number
  /** The start of the wait for which missing user objects were last checked. */
  lookedFromMs?: number
  /** In the current wait: the time since which a user object is missing, if one is. */
  absentFromMs?: number
  /** In the current wait: the earlier total time of missing user objects. */
  userMs?: number
  /** True if the pod counts as a user error. It is set once, and never for a pod that was counted otherwise. */
  isUserError?: boolean
}

/** A fact without the identity of its pod. */
export type Happening = Pick<SandboxObservation, 'kind' | 'atMs' | 'latencyMs' | 'isLate' | 'isUserError'>

/** The moment of an observation. */
export interface Look {
  readonly nowMs: number
  /** The earliest time of the observed state, which is in the past if versions of the pod were delayed. */
  readonly blindFromMs?: number | undefined
  readonly timeoutMs: number
  readonly lack: Lack
  /** True if versions of the pod arrive as they are written. False for one of unknown age. */
  readonly isLive: boolean
}

export const newRecord = (): PodRecord => ({ recreations: 0 })

/** The start of the current wait for a sandbox. */
const waitFrom = ({ lostAtMs, scheduledAtMs }: PodRecord): number | undefined => lostAtMs ?? scheduledAtMs

/** A wait up to a moment, divided into the time of missing user objects and the rest. */
function sharesAt(record: PodRecord, fromMs: number, atMs: number): { userMs: number; ownMs: number } {
  const { userMs = 0, absentFromMs } = record
  const waitMs = since(fromMs, atMs)
  const user = Math.min(waitMs, userMs + (absentFromMs === undefined ? 0 : since(absentFromMs, atMs)))
  return { userMs: user, ownMs: waitMs - user }
}

/**
 * The length and the cause of a wait. The cause is the user if an object was missing for at least half of it. A node
 * retries after as long as it has waited, so half is the minimum for a wait with no other cause. The user's part is
 * subtracted from other waits.
 */
function judge(record: PodRecord, fromMs: number, atMs: number): { latencyMs: number; isUserError: boolean } {
  const { userMs, ownMs } = sharesAt(record, fromMs, atMs)
  const isUserError = userMs > 0 && userMs >= ownMs
  return { latencyMs: isUserError ? userMs + ownMs : ownMs, isUserError }
}

/** True if the creation of a pod's first sandbox was reported, or cannot be. */
const isSettled = ({ readyAtMs, lostAtMs, failedAtMs, abandonedAtMs }: PodRecord): boolean =>
  readyAtMs !== undefined || lostAtMs !== undefined || failedAtMs !== undefined || abandonedAtMs !== undefined

const hadSandbox = ({ ready, past, hasRun }: SandboxView): boolean => (ready?.is ? past !== 'first' : hasRun)

/** True if a pod waits for its first sandbox, as far as that can be measured. */
function isWaiting(record: PodRecord, view: SandboxView): boolean {
  if (record.scheduledAtMs === undefined || isSettled(record) || hadSandbox(view)) return false
  // A node that accepts pods without the condition is too old, or has the gate disabled: nothing can be measured.
  return !view.isTaken || view.ready !== undefined
}

/**
 * The time at which a waiting pod fails. For example, 300 s of which a config map was missing for 20 s end after 320 s.
 */
function dueAt(record: PodRecord, timeoutMs: number): number {
  const { scheduledAtMs = 0, absentFromMs, userMs = 0 } = record
  if (absentFromMs === undefined) return scheduledAtMs + timeoutMs + userMs
  // The user is at fault once objects were missing for half of the wait. While one is missing, only that share grows.
  const before = sharesAt(record, scheduledAtMs, absentFromMs)
  return Math.max(scheduledAtMs + timeoutMs, absentFromMs + Math.max(0, before.ownMs - before.userMs))
}

/**
 * The time at which the wait of a pod ends without an event: it fails, or it was deleted. Undefined if it does not
 * wait.
 */
export function endsAt(record: PodRecord, view: SandboxView, timeoutMs: number): number | undefined {
  if (!isWaiting(record, view)) return undefined
  return Math.min(dueAt(record, timeoutMs), record.deletedAtMs ?? Infinity, record.finishedAtMs ?? Infinity)
}

/** The wait of a pod ended without a sandbox: it has failed, or was abandoned before that. */
export function endWait(record: PodRecord, atMs: number, timeoutMs: number): Happening {
  const { scheduledAtMs = atMs } = record
  const dueMs = dueAt(record, timeoutMs)
  if (atMs >= dueMs) {
    const isUserError = record.absentFromMs !== undefined
    record.failedAtMs = dueMs
    if (isUserError) record.isUserError = true
    return {
      kind: 'failed',
      atMs: dueMs,
      latencyMs: isUserError ? dueMs - scheduledAtMs : timeoutMs,
      isLate: false,
      isUserError,
    }
  }
  record.abandonedAtMs = atMs
  const judged = judge(record, scheduledAtMs, atMs)
  if (judged.isUserError) record.isUserError = true
  return { kind: 'abandoned', atMs, isLate: false, ...judged }
}

/**
 * Applies the current state of a pod. The result does not depend on the number of calls, nor on missed versions, as far
 * as the pod still shows them: a pod that became ready too late has failed even without an observation at that time.
 */
export function advance(record: PodRecord, view: SandboxView, look: Look): Happening[] {
  record.scheduledAtMs ??= view.scheduledAtMs
  record.deletedAtMs ??= view.deletedAtMs
  // If the end of a pod was missed, it is only known that it had not ended at its last version.
  if (view.isFinished) record.finishedAtMs ??= view.disruptedAtMs ?? (look.isLive ? look.nowMs : view.lastWordMs)
  if (view.ready?.is) return becameReady(record, view, view.ready.sinceMs, look)
  const happenings = view.ready ? becameUnready(record, view, view.ready.sinceMs) : []
  // Objects that are missing after a pod has ended do not affect it.
  const nowMs = view.isFinished ? Math.min(look.nowMs, record.finishedAtMs ?? look.nowMs) : look.nowMs
  return [...happenings, ...noteLack(record, view, { ...look, nowMs })]
}

/** The pod is gone from the API without a report that its sandbox is. */
export function vanish(record: PodRecord, atMs: number): Happening[] {
  const { readyAtMs, lostAtMs, deletedAtMs, terminatedAtMs, finishedAtMs } = record
  if (readyAtMs === undefined || lostAtMs !== undefined || terminatedAtMs !== undefined) return []
  if (deletedAtMs === undefined || finishedAtMs !== undefined) return []
  record.terminatedAtMs = atMs
  return [{ kind: 'unterminated', atMs, latencyMs: since(deletedAtMs, atMs), isLate: false, isUserError: false }]
}

/** Applies whether a user object is missing for a waiting pod. The time may have ended before it appeared. */
function noteLack(record: PodRecord, view: SandboxView, look: Look): Happening[] {
  const {
    lack: { isAbsent, completeAtMs },
    nowMs,
    blindFromMs = nowMs,
    timeoutMs,
  } = look
  const fromMs = waitFrom(record)
  if (fromMs === undefined || (record.lostAtMs === undefined && isSettled(record))) return []
  const isFirstLook = record.lookedFromMs !== fromMs
  record.lookedFromMs = fromMs
  if (isAbsent) {
    // A pod whose time ended before is no user error.
    const isOver =
      record.lostAtMs === undefined && record.absentFromMs === undefined && dueAt(record, timeoutMs) <= nowMs
    if (isFirstLook || !isOver) record.absentFromMs ??= isFirstLook ? fromMs : Math.max(fromMs, blindFromMs)
    return []
  }
  // Without an earlier observation, an object younger than the wait was missing until its creation.
  if (isFirstLook && completeAtMs !== undefined && completeAtMs > fromMs) record.absentFromMs ??= fromMs
  if (record.absentFromMs === undefined) return []
  const untilMs = Math.min(nowMs, completeAtMs ?? nowMs)
  const dueMs = dueAt(record, timeoutMs)
  const isOver =
    isWaiting(record, view) &&
    dueMs < Math.min(untilMs, record.deletedAtMs ?? Infinity, record.finishedAtMs ?? Infinity)
  const failed = isOver ? [endWait(record, dueMs, timeoutMs)] : []
  endAbsence(record, untilMs)
  return failed
}

function endAbsence(record: PodRecord, atMs: number): void {
  if (record.absentFromMs === undefined) return
  record.userMs = (record.userMs ?? 0) + since(record.absentFromMs, atMs)
  delete record.absentFromMs
}

function becameReady(record: PodRecord, view: SandboxView, atMs: number, look: Look): Happening[] {
  const { readyAtMs, lostAtMs, scheduledAtMs } = record
  if (readyAtMs !== undefined && atMs <= readyAtMs) return []
  const { timeoutMs } = look
  const failed = noteLack(record, view, { ...look, nowMs: atMs })
  const dueMs = isWaiting(record, view) ? dueAt(record, timeoutMs) : Infinity
  if (view.past === 'first' && atMs > dueMs) failed.push(endWait(record, dueMs, timeoutMs))
  endAbsence(record, atMs)
  const lost = lostAtMs === undefined ? undefined : judge(record, lostAtMs, atMs)
  const first = scheduledAtMs === undefined ? undefined : judge(record, scheduledAtMs, atMs)
  record.readyAtMs = atMs
  delete record.lostAtMs
  delete record.userMs
  if (readyAtMs !== undefined || lostAtMs !== undefined || view.past === 'later') {
    record.recreations++
    return [
      {
        kind: 'recreated',
        atMs,
        latencyMs: lost?.latencyMs,
        isLate: false,
        isUserError: lost?.isUserError ?? false,
      },
    ]
  }
  if (view.past !== 'first') return []
  record.firstReadyAtMs = atMs
  if (!first) return []
  const isLate = record.failedAtMs !== undefined || record.abandonedAtMs !== undefined
  // A counted pod keeps its classification.
  const isUserError = isLate ? record.isUserError === true : first.isUserError
  if (isUserError) record.isUserError = true
  return [...failed, { kind: 'created', atMs, latencyMs: first.latencyMs, isLate, isUserError }]
}

function becameUnready(record: PodRecord, view: SandboxView, atMs: number): Happening[] {
  const { readyAtMs, deletedAtMs, terminatedAtMs, lostAtMs } = record
  const wasReady = readyAtMs !== undefined ? atMs >= readyAtMs : view.hasRun
  if (!wasReady || terminatedAtMs !== undefined || lostAtMs !== undefined) return []
  if (deletedAtMs === undefined || atMs < deletedAtMs) {
    if (!view.isFinished) record.lostAtMs = atMs
    return []
  }
  record.terminatedAtMs = atMs
  return [{ kind: 'terminated', atMs, latencyMs: since(deletedAtMs, atMs), isLate: false, isUserError: false }]
}

/** The two times may come from different clocks. */
const since = (fromMs: number, toMs: number): number => Math.max(0, toMs - fromMs)
