import type { Job, Pod } from '../../api/generated/types.ts'
import { hasFinalizer } from '../../client/index.ts'

/** Keeps a pod until its end is written down in the Job's status. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'
export const indexAnnotation = 'batch.kubernetes.io/job-completion-index'
/** How often pods of the same index have failed before this one. */
export const indexFailuresAnnotation = 'batch.kubernetes.io/job-index-failure-count'
/** How many more failures the policy has let pass. */
export const indexIgnoredFailuresAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count'

/** Whether the end of a pod is still to be counted. */
export const isTracked = (pod: Pod): boolean => hasFinalizer(pod, trackingFinalizer)

export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === 'Indexed'

export const isSuspended = ({ spec }: Job): boolean => spec.suspend === true

/** Whether a pod is replaced only once it has ended, and not as soon as it is on its way out. */
export const replacesOnlyEnded = ({ spec }: Job): boolean => spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined

const ourName = 'kubernetes.io/job-controller'

/** Whether another controller has declared the Job its own. */
export const isManagedElsewhere = ({ spec }: Job): boolean => spec.managedBy !== undefined && spec.managedBy !== ourName

/** Whether a Job is over. */
export const isFinished = ({ status }: Job): boolean =>
  status?.conditions?.some((c) => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True') ?? false

const naturalNumber = (text: string | undefined): number | undefined => (text !== undefined && /^\+?[0-9]+$/.test(text) ? Number(text) : undefined)

/** Which of the completions a pod is for; undefined if it does not say, or is not among those that are wanted. */
export function indexOf(pod: Pod, completions: number): number | undefined {
  const index = naturalNumber(pod.metadata.annotations?.[indexAnnotation])
  return index !== undefined && index < completions ? index : undefined
}

const failuresIn = (pod: Pod, annotation: string): number => {
  const count = naturalNumber(pod.metadata.annotations?.[annotation]) ?? 0
  return count < 2 ** 31 ? count : 0
}

/** How often the index of a pod had failed before it. */
export const failuresBefore = (pod: Pod): { counted: number; ignored: number } => ({
  counted: failuresIn(pod, indexFailuresAnnotation),
  ignored: failuresIn(pod, indexIgnoredFailuresAnnotation),
})
