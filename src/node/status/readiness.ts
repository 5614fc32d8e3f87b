import type { PodCondition, PodStatus } from '../../api/generated/types.ts'

// Whether a pod is ready is said by its node, but for as long as the Node itself is not heard of: then by the node life
// cycle controller, which marks the pods of a lost node. Two who say it in turn would have it go to and fro.

const readyOf = (status: PodStatus | undefined): PodCondition | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')

/** Whether a status says that the pod is ready. */
export const saysReady = (status: PodStatus | undefined): boolean => readyOf(status)?.status === 'True'

/** The status as the agent of a lost node may write it: with Ready as it is stored, if that is not True. */
export function withStoredReadiness(stored: PodStatus | undefined, wanted: PodStatus): PodStatus {
  if (!saysReady(wanted) || saysReady(stored)) return wanted
  const told = readyOf(stored)
  const others = wanted.conditions?.flatMap((condition) => (condition.type === 'Ready' ? (told ?? []) : condition))
  return { ...wanted, conditions: others ?? [] }
}
