import type { PodCondition, PodStatus } from '../../api/generated/types.ts'

// The Ready condition of a pod has one writer at a time: its node, or, while the Node is not heard of, the node life
// cycle controller, which marks the pods of a lost node as not ready.

const readyOf = (status: PodStatus | undefined): PodCondition | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')

/** True if the status has the condition Ready with the status True. */
export const saysReady = (status: PodStatus | undefined): boolean => readyOf(status)?.status === 'True'

/** The status as the agent of a lost node may write it: a stored Ready that is not True is kept. */
export function withStoredReadiness(stored: PodStatus | undefined, wanted: PodStatus): PodStatus {
  if (!saysReady(wanted) || saysReady(stored)) return wanted
  const told = readyOf(stored)
  const others = wanted.conditions?.flatMap((condition) => (condition.type === 'Ready' ? (told ?? []) : condition))
  return { ...wanted, conditions: others ?? [] }
}
