import type { ConditionFact } from '../facts.ts'

/** Conditions that report a problem or a delay when they are True. Most others are good when True. */
const badWhenTrue = /Failure|Failed|Pressure|Unavailable|DisruptionTarget/
const heldWhenTrue = /Suspended|Waiting|Pending|InProgress|Paused/

/** The tone of a condition, by its meaning for the object and not by its status. */
export function conditionTone({
  type,
  status,
  reason,
}: Pick<ConditionFact, 'type' | 'status' | 'reason'>): 'good' | 'warn' | 'bad' | 'none' {
  if (status === 'Unknown') return 'warn'
  // A finished Job is neither running nor waiting, which is neither good nor bad.
  if (status === 'False' && reason === 'JobFinished') return 'none'
  if (badWhenTrue.test(type)) return status === 'True' ? 'bad' : 'good'
  if (heldWhenTrue.test(type)) return status === 'True' ? 'warn' : 'good'
  if (type === 'Progressing' && reason === 'ProgressDeadlineExceeded') return 'bad'
  return status === 'True' ? 'good' : 'warn'
}
