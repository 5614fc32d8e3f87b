import type { SandboxObservation } from '../observation.ts'
import type { SandboxView } from './sandbox-view.ts'
import type { Lack } from './user-objects.ts'

/** What is remembered of a pod's sandboxes. Times are by the pod's own conditions. */
export interface PodRecord {
  scheduledAtMs?: number
  /** The very first readiness. Undefined also where it was before anybody looked. */
  firstReadyAtMs?: number
  /** The latest one. */
  readyAtMs?: number
  /** The sandbox that was ready is gone, and there is no other yet. */
  lostAtMs?: number
  recreations: number
  /** When the time was up in which it should have become ready. */
  failedAtMs?: number
  /** When it was deleted or came to its end, never having been ready. */
  abandonedAtMs?: number
  deletedAtMs?: number
  /** When it ran to its end, as far as that is known. */
  finishedAtMs?: number
  terminatedAtMs?: number
  /** The start of the wait in which it was last looked whether an object of the user is absent. */
  lookedFromMs?: number
  /** In the present wait: since when an object of the user is absent, if one is. */
  absentFromMs?: number
  /** In the present wait: how long objects of the user were absent before that. */
  userMs?: number
  /** The pod counts as an error of its user. It is set once, and a pod that has counted otherwise never has it. */
  isUserError?: boolean
}

/** What is to be told of a pod, apart from who it is. */
export type Happening = Pick<SandboxObservation, 'kind' | 'atMs' | 'latencyMs' | 'isLate' | 'isUserError'>

/** The moment at which a pod is looked at. */
export interface Look {
  readonly nowMs: number
  /** Since when this may be so: before now where versions of the pod have been waiting to be heard. */
  readonly blindFromMs?: number | undefined
  readonly timeoutMs: number
  readonly lack: Lack
  /** True if versions of the pod are heard as they are written; false for one of unknown age. */
  readonly isLive: boolean
}

export const newRecord = (): PodRecord => ({ recreations: 0 })

/** The start of the present wait for a sandbox. */
const waitFrom = ({ lostAtMs, scheduledAtMs }: PodRecord): number | undefined => lostAtMs ?? scheduledAtMs

/** A wait up to a moment, divided into the time for which objects of the user were absent, and the rest. */
function sharesAt(record: PodRecord, fromMs: number, atMs: number): { userMs: number; ownMs: number } {
  const { userMs = 0, absentFromMs } = record
  const waitMs = since(fromMs, atMs)
  const user = Math.min(waitMs, userMs + (absentFromMs === undefined ? 0 : since(absentFromMs, atMs)))
  return { userMs: user, ownMs: waitMs - user }
}

/**
 * How long a wait was, and whose it is: the user's if an object was absent for at least half of it. A node tries again
 * after as long as it has waited, so half is the least that a wait has that nothing but an absent object has caused.
 * The time of the user is taken off a wait that is the cluster's.
 */
function judge(record: PodRecord, fromMs: number, atMs: number): { latencyMs: number; isUserError: boolean } {
  const { userMs, ownMs } = sharesAt(record, fromMs, atMs)
  const isUserError = userMs > 0 && userMs >= ownMs
  return { latencyMs: isUserError ? userMs + ownMs : ownMs, isUserError }
}

/** True if the creation of a pod's first sandbox has been told of, or cannot be. */
const isSettled = ({ readyAtMs, lostAtMs, failedAtMs, abandonedAtMs }: PodRecord): boolean =>
  readyAtMs !== undefined || lostAtMs !== undefined || failedAtMs !== undefined || abandonedAtMs !== undefined

const hadSandbox = ({ ready, past, hasRun }: SandboxView): boolean => (ready?.is ? past !== 'first' : hasRun)

/** True if a pod waits for its first sandbox, as far as that can be measured. */
export function isWaiting(record: PodRecord, view: SandboxView): boolean {
  if (record.scheduledAtMs === undefined || isSettled(record) || hadSandbox(view)) return false
  // A node that takes pods without saying so is too old, or has been told not to: there is nothing to measure.
  return !view.isTaken || view.ready !== undefined
}

/** When the time of a pod is up that waits. Worked example: 300 s, of which a config map was absent for 20 s, is 320 s. */
function dueAt(record: PodRecord, timeoutMs: number): number {
  const { scheduledAtMs = 0, absentFromMs, userMs = 0 } = record
  if (absentFromMs === undefined) return scheduledAtMs + timeoutMs + userMs
  // Not before the absence is at least half of the wait. Its share grows, and the rest does not.
  const before = sharesAt(record, scheduledAtMs, absentFromMs)
  return Math.max(scheduledAtMs + timeoutMs, absentFromMs + Math.max(0, before.ownMs - before.userMs))
}

/** When the wait of a pod ends if nothing else happens: its time is up, or it was deleted; undefined if it does not wait. */
export function endsAt(record: PodRecord, view: SandboxView, timeoutMs: number): number | undefined {
  if (!isWaiting(record, view)) return undefined
  return Math.min(dueAt(record, timeoutMs), record.deletedAtMs ?? Infinity, record.finishedAtMs ?? Infinity)
}

/** The wait of a pod has ended without a sandbox: it has failed, or was given up before that. */
export function endWait(record: PodRecord, atMs: number, timeoutMs: number): Happening {
  const { scheduledAtMs = atMs } = record
  const dueMs = dueAt(record, timeoutMs)
  if (atMs >= dueMs) {
    const isUserError = record.absentFromMs !== undefined
    record.failedAtMs = dueMs
    if (isUserError) record.isUserError = true
    return { kind: 'failed', atMs: dueMs, latencyMs: isUserError ? dueMs - scheduledAtMs : timeoutMs, isLate: false, isUserError }
  }
  record.abandonedAtMs = atMs
  const judged = judge(record, scheduledAtMs, atMs)
  if (judged.isUserError) record.isUserError = true
  return { kind: 'abandoned', atMs, isLate: false, ...judged }
}

/**
 * Takes in what a pod says now. The answer does not depend on how often it is asked, nor on what was missed in between, as far as the pod still tells of it: a pod that became ready
 * after its time was up has failed even if nobody looked when it was.
 */
export function advance(record: PodRecord, view: SandboxView, look: Look): Happening[] {
  record.scheduledAtMs ??= view.scheduledAtMs
  record.deletedAtMs ??= view.deletedAtMs
  // Of a pod that ended while nobody looked, it is only known that it had not ended before its last word.
  if (view.isFinished) record.finishedAtMs ??= view.disruptedAtMs ?? (look.isLive ? look.nowMs : view.lastWordMs)
  if (view.ready?.is) return becameReady(record, view, view.ready.sinceMs, look)
  const happenings = view.ready ? becameUnready(record, view, view.ready.sinceMs) : []
  // What is absent after a pod has ended, it never waited for.
  const nowMs = view.isFinished ? Math.min(look.nowMs, record.finishedAtMs ?? look.nowMs) : look.nowMs
  return [...happenings, ...noteLack(record, view, { ...look, nowMs })]
}

/** The pod is gone from the API without having said that its sandbox is. */
export function vanish(record: PodRecord, atMs: number): Happening[] {
  const { readyAtMs, lostAtMs, deletedAtMs, terminatedAtMs, finishedAtMs } = record
  if (readyAtMs === undefined || lostAtMs !== undefined || terminatedAtMs !== undefined) return []
  if (deletedAtMs === undefined || finishedAtMs !== undefined) return []
  record.terminatedAtMs = atMs
  return [{ kind: 'unterminated', atMs, latencyMs: since(deletedAtMs, atMs), isLate: false, isUserError: false }]
}

/** Takes in whether an object of the user is absent from a pod that waits. The time may have been up before it appeared. */
function noteLack(record: PodRecord, view: SandboxView, look: Look): Happening[] {
  const { lack: { isAbsent, completeAtMs }, nowMs, blindFromMs = nowMs, timeoutMs } = look
  const fromMs = waitFrom(record)
  if (fromMs === undefined || (record.lostAtMs === undefined && isSettled(record))) return []
  const isFirstLook = record.lookedFromMs !== fromMs
  record.lookedFromMs = fromMs
  if (isAbsent) {
    // Whose time was up before is no error of its user any more.
    const isOver = record.lostAtMs === undefined && record.absentFromMs === undefined && dueAt(record, timeoutMs) <= nowMs
    if (isFirstLook || !isOver) record.absentFromMs ??= isFirstLook ? fromMs : Math.max(fromMs, blindFromMs)
    return []
  }
  // Nobody looked before, and the object is younger than the wait: it was absent until then.
  if (isFirstLook && completeAtMs !== undefined && completeAtMs > fromMs) record.absentFromMs ??= fromMs
  if (record.absentFromMs === undefined) return []
  const untilMs = Math.min(nowMs, completeAtMs ?? nowMs)
  const dueMs = dueAt(record, timeoutMs)
  const isOver = isWaiting(record, view) && dueMs < Math.min(untilMs, record.deletedAtMs ?? Infinity, record.finishedAtMs ?? Infinity)
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
    return [{ kind: 'recreated', atMs, latencyMs: lost?.latencyMs, isLate: false, isUserError: lost?.isUserError ?? false }]
  }
  if (view.past !== 'first') return []
  record.firstReadyAtMs = atMs
  if (!first) return []
  const isLate = record.failedAtMs !== undefined || record.abandonedAtMs !== undefined
  // A pod that has counted stays what it has counted as.
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

/** Two clocks may differ. */
const since = (fromMs: number, toMs: number): number => Math.max(0, toMs - fromMs)
