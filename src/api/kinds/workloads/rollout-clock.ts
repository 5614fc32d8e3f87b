import { type KubeObject, millisecondsOf } from '../../object.ts'
import type { ProgressMark } from '../../generated/types.ts'
import type { Int64 } from '../../numbers/int64.ts'

/** A condition of any kind of workload. Kubernetes writes a time that was never set as null. */
export interface WorkloadCondition {
  type: string
  /** True, False or Unknown. */
  status: string
  reason?: string
  message?: string
  /** The time of the last change of status. */
  lastTransitionTime?: string | null
  /**
   * The time of the last update, which is the clock of progress deadlines. ReplicaSets, ReplicationControllers and Jobs
   * have none.
   */
  lastUpdateTime?: string | null
  observedGeneration?: Int64
  /** On Progressing: the progress of the rollout when its clock was last reset. */
  progress?: ProgressMark
}

/** The default for an unset deadline, which means no deadline. */
export const noDeadline = 2_147_483_647

export const hasDeadline = (seconds: number | undefined): seconds is number =>
  seconds !== undefined && seconds !== noDeadline

/** The annotation that replaces spec.progressDeadlineSeconds in kinds without this field. */
export const deadlineAnnotation = 'coxswain.dev/progress-deadline-seconds'

/** The seconds without progress after which a rollout has failed, from the spec or else the annotation. */
export function deadlineOf({
  metadata: { annotations },
  spec,
}: KubeObject & { spec?: { progressDeadlineSeconds?: number } }): number | undefined {
  if (spec?.progressDeadlineSeconds !== undefined) return spec.progressDeadlineSeconds
  const text = annotations?.[deadlineAnnotation] ?? ''
  const seconds = /^[0-9]{1,10}$/.test(text) ? Number(text) : 0
  return seconds > 0 && seconds <= noDeadline ? seconds : undefined
}

export const deadlineExceeded = 'ProgressDeadlineExceeded'
export const partitionReached = 'PartitionReached'
export const waitingForDeletion = 'WaitingForPodDeletion'

const completeReasons: ReadonlySet<string> = new Set(['NewReplicaSetAvailable', 'NewRevisionAvailable'])
const heldReasons: ReadonlySet<string> = new Set([partitionReached, waitingForDeletion])
const pausedReasons: ReadonlySet<string> = new Set(['DeploymentPaused', 'RolloutPaused'])

/** The fields of a Progressing condition that the clock depends on. */
export interface ProgressCondition {
  type: string
  status: string
  reason?: string
  /** The time of the last progress, which is the clock. */
  lastUpdateTime?: string | null
}

type RolloutState = 'complete' | 'held' | 'paused' | 'failed' | 'running'

/**
 * The state of a rollout from its Progressing condition; undefined if there is none. `failed` includes an exceeded
 * deadline.
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

/** The time until the deadline, negative after it has passed; undefined without a deadline or clock. */
export function leftOfDeadlineMs(
  clock: string | null | undefined,
  deadlineSeconds: number | undefined,
  nowMs: number,
): number | undefined {
  const sinceMs = millisecondsOf(clock)
  return !hasDeadline(deadlineSeconds) || Number.isNaN(sinceMs) ? undefined : sinceMs + deadlineSeconds * 1000 - nowMs
}

/** The remaining time without progress: 0 if the deadline is exceeded, undefined if no clock runs. */
export function deadlineLeftMs(
  conditions: readonly ProgressCondition[] | null | undefined,
  deadlineSeconds: number | undefined,
  nowMs: number,
): number | undefined {
  const state = rolloutState(conditions)
  const progressing = conditions?.find((c) => c.type === 'Progressing')
  if (state === 'failed')
    return progressing!.reason === deadlineExceeded && hasDeadline(deadlineSeconds) ? 0 : undefined
  if (state !== 'running') return undefined
  const leftMs = leftOfDeadlineMs(progressing!.lastUpdateTime, deadlineSeconds, nowMs)
  return leftMs === undefined ? undefined : Math.max(0, leftMs)
}
