import type { ContainerStatus, Pod, PodCondition, PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyRule } from '../../api/generated/types.ts'

/** What a failed pod means for its Job. */
export interface FailureVerdict {
  /** Undefined where no rule speaks: it counts. */
  action: 'FailJob' | 'FailIndex' | 'Count' | 'Ignore' | undefined
  /** Why the Job is to fail. */
  message?: string
}

const counts: FailureVerdict = { action: undefined }

/** Judges a failed pod by the first rule that matches it. */
export function judgeFailure(policy: PodFailurePolicy | undefined, pod: Pod): FailureVerdict {
  for (const [at, rule] of (policy?.rules ?? []).entries()) {
    const cause = causeOf(rule, pod)
    if (cause === undefined) continue
    const action = rule.action as FailureVerdict['action']
    return action === 'FailJob' ? { action, message: `${cause} matching ${action} rule at index ${at}` } : { action }
  }
  return counts
}

/** What a rule has found, as the beginning of a sentence. */
function causeOf({ onExitCodes, onPodConditions }: PodFailurePolicyRule, { metadata, status }: Pod): string | undefined {
  const pod = `${metadata.namespace}/${metadata.name}`
  if (onExitCodes) {
    const ended = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find((s) => hasExited(s, onExitCodes))
    return ended && `Container ${ended.name} for pod ${pod} failed with exit code ${ended.state!.terminated!.exitCode}`
  }
  const isWanted = (c: PodCondition) => onPodConditions?.some(({ type, status: wanted = 'True' }) => c.type === type && c.status === wanted) ?? false
  const condition = status?.conditions?.find(isWanted)
  return condition && `Pod ${pod} has condition ${condition.type}`
}

function hasExited({ name, state }: ContainerStatus, { containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement): boolean {
  const exitCode = state?.terminated?.exitCode ?? 0
  if (exitCode === 0 || (containerName !== undefined && containerName !== name)) return false
  return values.includes(exitCode) === (operator === 'In')
}
