import type { SandboxObservation } from '../observation.ts'
import type { SandboxView } from './sandbox-view.ts'

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
  deletedAtMs?: number
  terminatedAtMs?: number
  /** The start of the last wait in which a config map or secret was missing: when it was scheduled, or lost one. */
  userErrorAtMs?: number
}

/** What is to be told of a pod, apart from who it is. */
export type Happening = Pick<SandboxObservation, 'kind' | 'atMs' | 'latencyMs' | 'isLate' | 'isUserError'>

export const newRecord = (): PodRecord => ({ recreations: 0 })

/** Whether a config map or secret was missing in the wait that began at this time, or in a later one. */
const wasUserError = ({ userErrorAtMs }: PodRecord, sinceMs: number | undefined): boolean =>
  sinceMs !== undefined && userErrorAtMs !== undefined && userErrorAtMs >= sinceMs

/** Whether nothing that a pod still does can end in `failed`. */
const isSettled = ({ readyAtMs, lostAtMs, failedAtMs }: PodRecord): boolean => readyAtMs !== undefined || lostAtMs !== undefined || failedAtMs !== undefined

const hadSandbox = ({ ready, past, hasRun }: SandboxView): boolean => (ready?.is ? past !== 'first' : hasRun)

/** When a pod fails if nothing happens; undefined if it cannot. */
export function failsAt(record: PodRecord, view: SandboxView, timeoutMs: number): number | undefined {
  const { scheduledAtMs } = record
  if (scheduledAtMs === undefined || isSettled(record) || view.isFinished || hadSandbox(view)) return undefined
  // A node that takes pods without saying so is too old, or has been told not to: there is nothing to measure.
  if (view.isTaken && !view.ready) return undefined
  const dueMs = scheduledAtMs + timeoutMs
  return record.deletedAtMs !== undefined && record.deletedAtMs < dueMs ? undefined : dueMs
}

/** The time of a pod is up. */
export function fail(record: PodRecord, dueMs: number): Happening {
  record.failedAtMs = dueMs
  const { scheduledAtMs = dueMs } = record
  const isUserError = wasUserError(record, scheduledAtMs)
  return { kind: 'failed', atMs: dueMs, latencyMs: dueMs - scheduledAtMs, isLate: false, isUserError }
}

/**
 * Takes in what a pod says now. The answer does not depend on how often it is asked, nor on what was missed in between, as far as the pod still tells of it: a pod that became ready
 * after its time was up has failed even if nobody looked when it was.
 */
export function advance(record: PodRecord, view: SandboxView, timeoutMs: number): Happening[] {
  record.scheduledAtMs ??= view.scheduledAtMs
  record.deletedAtMs ??= view.deletedAtMs
  if (!view.ready) return []
  if (view.ready.is) return becameReady(record, view, view.ready.sinceMs, timeoutMs)
  const happenings = becameUnready(record, view, view.ready.sinceMs)
  if (view.isUserError) record.userErrorAtMs = record.lostAtMs ?? record.scheduledAtMs ?? view.ready.sinceMs
  return happenings
}

function becameReady(record: PodRecord, view: SandboxView, atMs: number, timeoutMs: number): Happening[] {
  const { readyAtMs, lostAtMs, scheduledAtMs } = record
  if (readyAtMs !== undefined && atMs <= readyAtMs) return []
  const dueMs = failsAt(record, view, timeoutMs)
  record.readyAtMs = atMs
  delete record.lostAtMs
  if (readyAtMs !== undefined || lostAtMs !== undefined || view.past === 'later') {
    record.recreations++
    const latencyMs = lostAtMs === undefined ? undefined : since(lostAtMs, atMs)
    return [{ kind: 'recreated', atMs, latencyMs, isLate: false, isUserError: wasUserError(record, lostAtMs) }]
  }
  if (view.past !== 'first') return []
  record.firstReadyAtMs = atMs
  if (scheduledAtMs === undefined) return []
  const failed = dueMs !== undefined && atMs > dueMs ? [fail(record, dueMs)] : []
  const isLate = record.failedAtMs !== undefined
  const isUserError = wasUserError(record, scheduledAtMs)
  return [...failed, { kind: 'created', atMs, latencyMs: since(scheduledAtMs, atMs), isLate, isUserError }]
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
