import type {
  ContainerStatus,
  Job,
  Pod,
  PodCondition,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  SuccessPolicy,
  SuccessPolicyRule,
} from '../../api/generated/types.ts'
import { type BackOff, backOffAfter, indexBackOff, noBackOff, waitMs } from '../../api/kinds/workloads/job-back-off.ts'
import { hasFinalizer } from '../../client/index.ts'
import { isPodTerminating } from '../kit/workload/index.ts'
import type { IndexSet } from './indexes.ts'

export {
  failuresBefore,
  indexAnnotation,
  indexFailuresAnnotation,
  indexIgnoredFailuresAnnotation,
  indexOf,
} from '../../api/kinds/workloads/job-back-off.ts'

/** The finalizer that keeps a pod until its end is recorded in the Job's status. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'

/** Reports whether the end of a pod is still to be counted. */
export const isTracked = (pod: Pod): boolean => hasFinalizer(pod, trackingFinalizer)

export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === 'Indexed'

export const isSuspended = ({ spec }: Job): boolean => spec.suspend === true

/** Reports whether a pod is replaced only after it has finished, instead of when it is terminating. */
export const replacesOnlyEnded = ({ spec }: Job): boolean =>
  spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined

const ourName = 'kubernetes.io/job-controller'

/** Reports whether another controller manages the Job. */
export const isManagedElsewhere = ({ spec }: Job): boolean => spec.managedBy !== undefined && spec.managedBy !== ourName

/** Reports whether a Job has finished. */
export const isFinished = ({ status }: Job): boolean =>
  status?.conditions?.some((c) => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True') ?? false

/** The effect of a failed pod on its Job. */
export interface FailureVerdict {
  /** Undefined if no rule matches: the failure counts. */
  action: 'FailJob' | 'FailIndex' | 'Count' | 'Ignore' | undefined
  /** The reason why the Job is to fail. */
  message?: string
}

const counts: FailureVerdict = { action: undefined }

/** Evaluates a failed pod by the first matching rule. */
export function judgeFailure(policy: PodFailurePolicy | undefined, pod: Pod): FailureVerdict {
  for (const [at, rule] of (policy?.rules ?? []).entries()) {
    const cause = causeOf(rule, pod)
    if (cause === undefined) continue
    const action = rule.action as FailureVerdict['action']
    return action === 'FailJob' ? { action, message: `${cause} matching ${action} rule at index ${at}` } : { action }
  }
  return counts
}

/** The match of a rule, as the beginning of a sentence. */
function causeOf(
  { onExitCodes, onPodConditions }: PodFailurePolicyRule,
  { metadata, status }: Pod,
): string | undefined {
  const pod = `${metadata.namespace}/${metadata.name}`
  if (onExitCodes) {
    const ended = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find((s) =>
      hasExited(s, onExitCodes),
    )
    return ended && `Container ${ended.name} for pod ${pod} failed with exit code ${ended.state!.terminated!.exitCode}`
  }
  const isWanted = (c: PodCondition) =>
    onPodConditions?.some(({ type, status: wanted = 'True' }) => c.type === type && c.status === wanted) ?? false
  const condition = status?.conditions?.find(isWanted)
  return condition && `Pod ${pod} has condition ${condition.type}`
}

function hasExited(
  { name, state }: ContainerStatus,
  { containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement,
): boolean {
  const exitCode = state?.terminated?.exitCode ?? 0
  if (exitCode === 0 || (containerName !== undefined && containerName !== name)) return false
  return values.includes(exitCode) === (operator === 'In')
}

/** Parses the indexes of a rule. */
type Parse = (at: number, text: string) => IndexSet

/** The position of the first rule that the succeeded indexes satisfy. */
export function metRule(policy: SuccessPolicy | undefined, succeeded: IndexSet, parse: Parse): number | undefined {
  if (!policy || succeeded.size === 0) return undefined
  const at = policy.rules.findIndex((rule, place) => isMet(rule, succeeded, (text) => parse(place, text)))
  return at < 0 ? undefined : at
}

function isMet(rule: SuccessPolicyRule, succeeded: IndexSet, parse: (text: string) => IndexSet): boolean {
  const { succeededIndexes, succeededCount } = rule
  if (succeededIndexes === undefined) return succeededCount !== undefined && succeeded.size >= succeededCount
  const wanted = parse(succeededIndexes)
  if (wanted.size === 0) return false
  const shared = wanted.sharedWith(succeeded)
  return shared === wanted.size || (succeededCount !== undefined && shared >= succeededCount)
}

export { type BackOff, backOffAfter, endedAtMs, waitMs } from '../../api/kinds/workloads/job-back-off.ts'

/**
 * The back-off from existing pods whose failures were counted before this process started. Deleted pods are ignored,
 * because they may have been redundant.
 */
export function recoverBackOff(pods: readonly Pod[], isCounted: (pod: Pod) => boolean): BackOff {
  const ended = pods.filter((pod) => !isPodTerminating(pod) && (!isTracked(pod) || isCounted(pod)))
  return backOffAfter(
    noBackOff,
    ended.filter((p) => p.status?.phase === 'Succeeded'),
    ended.filter((p) => p.status?.phase === 'Failed'),
  )
}

/** The time until a pod of an index may be created, according to its last failed pod. */
export const indexWaitMs = (lastFailed: Pod | undefined, nowMs: number): number =>
  lastFailed ? waitMs(indexBackOff(lastFailed), nowMs) : 0
