import type { ProgressMark } from './generated/types.ts'
import type { Int64 } from './int64.ts'

/** A condition as any kind of workload stores it. Kubernetes writes a time that was never set as null. */
export interface WorkloadCondition {
  type: string
  /** True, False or Unknown. */
  status: string
  reason?: string
  message?: string
  /** The time at which it last turned to this status. */
  lastTransitionTime?: string | null
  /**
   * The time at which it last said something new: the clock of progress deadlines. ReplicaSets, ReplicationControllers
   * and Jobs have none.
   */
  lastUpdateTime?: string | null
  observedGeneration?: Int64
  /** On Progressing: how far the rollout had come when its clock was last moved. */
  progress?: ProgressMark
}
