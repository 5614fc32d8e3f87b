import { millisecondsOf } from './timestamp.ts'

/** The deadline that never comes: what an unset one is defaulted to. */
export const noDeadline = 2_147_483_647

export const hasDeadline = (seconds: number | undefined): seconds is number => seconds !== undefined && seconds !== noDeadline

export const deadlineExceeded = 'ProgressDeadlineExceeded'
export const partitionReached = 'PartitionReached'
export const waitingForDeletion = 'WaitingForPodDeletion'

const completeReasons: ReadonlySet<string> = new Set(['NewReplicaSetAvailable', 'NewRevisionAvailable'])
const heldReasons: ReadonlySet<string> = new Set([partitionReached, waitingForDeletion])
const pausedReasons: ReadonlySet<string> = new Set(['DeploymentPaused', 'RolloutPaused'])

/** The parts of a Progressing condition that its clock is judged by. */
export interface ProgressCondition {
  type: string
  status: string
  reason?: string
  /** The time of the last progress: the clock. */
  lastUpdateTime?: string | null
}

export type RolloutState = 'complete' | 'held' | 'paused' | 'failed' | 'running'

/**
 * The state of a rollout by what its Progressing condition says; undefined where there is none. `failed` includes an
 * exceeded deadline.
 */
export function rolloutState(conditions: readonly ProgressCondition[] | null | undefined): RolloutState | undefined {
  const progressing = conditions?.find((c) => c.type === 'Progressing')
  if (!progressing) return undefined
  const { status, reason = '' } = progressing
  if (status === 'False') return 'failed'
  if (status === 'True' && completeReasons.has(reason)) return 'complete'
  if (status === 'True' && heldReasons.has(reason)) return 'held'
  return pausedReasons.has(reason) ? 'paused' : 'running'
}

/**
 * The time from a clock until the deadline, negative once it has passed; undefined where there is no deadline or no
 * clock.
 */
export function leftOfDeadlineMs(clock: string | null | undefined, deadlineSeconds: number | undefined, nowMs: number): number | undefined {
  const sinceMs = millisecondsOf(clock)
  return !hasDeadline(deadlineSeconds) || Number.isNaN(sinceMs) ? undefined : sinceMs + deadlineSeconds * 1000 - nowMs
}

/** The time that a rollout may still go without progress: 0 when it is over, undefined where no clock runs. */
export function deadlineLeftMs(
  conditions: readonly ProgressCondition[] | null | undefined, deadlineSeconds: number | undefined, nowMs: number,
): number | undefined {
  const state = rolloutState(conditions)
  const progressing = conditions?.find((c) => c.type === 'Progressing')
  if (state === 'failed') return progressing!.reason === deadlineExceeded && hasDeadline(deadlineSeconds) ? 0 : undefined
  if (state !== 'running') return undefined
  const leftMs = leftOfDeadlineMs(progressing!.lastUpdateTime, deadlineSeconds, nowMs)
  return leftMs === undefined ? undefined : Math.max(0, leftMs)
}
