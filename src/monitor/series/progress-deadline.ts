/** What an unset deadline is defaulted to: it never comes. */
const noDeadline = 2_147_483_647

/** Reasons under which nothing is waited for: the rollout is complete, or held by its partition. */
const atRest: ReadonlySet<string> = new Set(['NewReplicaSetAvailable', 'NewRevisionAvailable', 'PartitionReached'])

export interface ProgressCondition {
  type: string
  status: string
  reason?: string
  lastUpdateTime?: string | null
  lastTransitionTime?: string | null
}

/** How many seconds a rollout may still go without progress; 0 when they are over, undefined where no time runs. */
export function secondsLeft(conditions: readonly ProgressCondition[] | undefined, deadlineSeconds: number | undefined, nowMs: number): number | undefined {
  const progressing = conditions?.find((c) => c.type === 'Progressing')
  if (!progressing || deadlineSeconds === undefined || deadlineSeconds === noDeadline) return undefined
  const { status, reason = '', lastUpdateTime, lastTransitionTime } = progressing
  if (status === 'False') return reason === 'ProgressDeadlineExceeded' ? 0 : undefined
  const sinceMs = Date.parse(lastUpdateTime ?? lastTransitionTime ?? '')
  if (status !== 'True' || atRest.has(reason) || Number.isNaN(sinceMs)) return undefined
  return Math.max(0, (sinceMs - nowMs) / 1000 + deadlineSeconds)
}
