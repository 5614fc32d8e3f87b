import type { Job, Pod } from '../../api/generated/types.ts'
import { hasFinalizer } from '../../client/index.ts'

export {
  failuresBefore, indexAnnotation, indexFailuresAnnotation, indexIgnoredFailuresAnnotation, indexOf,
} from '../../api/kinds/job-back-off.ts'

/** Keeps a pod until its end is written down in the Job's status. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'

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
