import type { ConditionFact } from '../facts.ts'

/** Conditions that say that something is wrong, or held up, while they are True. Most conditions are good when True. */
const badWhenTrue = /Failure|Failed|Pressure|Unavailable|DisruptionTarget/
const heldWhenTrue = /Suspended|Waiting|Pending|InProgress|Paused/

/** How a condition is drawn: by what it says about the object, not by whether it is True. */
export function conditionTone({
  type,
  status,
  reason,
}: Pick<ConditionFact, 'type' | 'status' | 'reason'>): 'good' | 'warn' | 'bad' | 'none' {
  if (status === 'Unknown') return 'warn'
  // A finished Job neither runs nor waits, which is neither good nor bad.
  if (status === 'False' && reason === 'JobFinished') return 'none'
  if (badWhenTrue.test(type)) return status === 'True' ? 'bad' : 'good'
  if (heldWhenTrue.test(type)) return status === 'True' ? 'warn' : 'good'
  if (type === 'Progressing' && reason === 'ProgressDeadlineExceeded') return 'bad'
  return status === 'True' ? 'good' : 'warn'
}
