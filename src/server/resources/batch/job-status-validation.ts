import { semanticEqual } from '../../../api/deep-equal.ts'
import type { Job, JobStatus } from '../../../api/generated/types.ts'
import { immutableMessage } from '../../../api/validation/field-checks.ts'
import { type FieldError, duplicate, invalid, required } from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'
import { invalidAsAWhole, validateCounts } from '../apps/workload-rules.ts'
import { sharedIndex, validateIndexes } from './job-indexes.ts'

const path = Path.of('status')
const conditionsPath = path.child('conditions')

type JobConditionType = 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'Suspended'

/** True if a Job has a true condition of this type. */
export const hasCondition = (status: JobStatus | undefined, type: JobConditionType): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false

/** The true conditions, and predicates for each. */
interface Facts {
  complete: boolean
  failed: boolean
  failureTarget: boolean
  criteriaMet: boolean
  finished: boolean
}

function factsOf(status: JobStatus): Facts {
  const complete = hasCondition(status, 'Complete')
  const failed = hasCondition(status, 'Failed')
  return {
    complete,
    failed,
    failureTarget: hasCondition(status, 'FailureTarget'),
    criteriaMet: hasCondition(status, 'SuccessCriteriaMet'),
    finished: complete || failed,
  }
}

/**
 * Validates a status update. Most rules apply only if the fields that they check have changed: a status may violate a
 * rule after a change of the spec, and the controller must be able to repair it step by step.
 */
export function validateJobStatus(obj: Job, old: Job): FieldError[] {
  const status = obj.status ?? {}
  const was = old.status ?? {}
  const now = factsOf(status)
  const before = factsOf(was)
  const has = (...fields: (keyof JobStatus)[]) => fields.some((field) => !semanticEqual(status[field], was[field]))
  const turned = (...names: (keyof Facts)[]) => names.some((name) => now[name] !== before[name])
  return [
    ...validateCounts(status, ['active', 'succeeded', 'failed', 'ready', 'terminating'], path),
    ...validateUncounted(status),
    ...when(
      now.complete && now.failed && turned('complete', 'failed'),
      'cannot set Complete=True and Failed=true conditions',
    ),
    ...when(
      now.complete && now.failureTarget && turned('complete', 'failureTarget'),
      'cannot set Complete=True and FailureTarget=true conditions',
    ),
    ...validateTimes(status, now, turned('complete') || has('completionTime'), has('startTime', 'completionTime')),
    ...when(
      now.failed && !now.failureTarget && turned('failed', 'failureTarget'),
      'cannot set Failed=True condition without the FailureTarget=true condition',
    ),
    ...when(
      now.complete && !now.criteriaMet && turned('complete', 'criteriaMet'),
      'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ),
    ...validateFinished(status, now, (field) => turned('finished') || has(field)),
    ...validateIndexLists(obj, has('completedIndexes'), has('failedIndexes')),
    ...(now.finished && (status.terminating ?? 0) > 0 && (turned('finished') || has('terminating'))
      ? [invalid(path.child('terminating'), status.terminating, 'terminating>0 is invalid for finished job')]
      : []),
    ...((status.ready ?? 0) > (status.active ?? 0) && has('ready', 'active')
      ? [invalid(path.child('ready'), status.ready, 'cannot set more ready pods than active')]
      : []),
    ...when(now.criteriaMet && now.failed, 'cannot set SuccessCriteriaMet=True and Failed=true conditions'),
    ...when(
      now.criteriaMet && now.failureTarget,
      'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
    ),
    ...when(
      obj.spec?.successPolicy !== undefined && !now.criteriaMet && now.complete,
      'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True',
    ),
    ...validateTransition(obj, status, was),
  ]
}

const when = (isWrong: boolean, message: string): FieldError[] =>
  isWrong ? [invalidAsAWhole(conditionsPath, message)] : []

function validateUncounted(status: JobStatus): FieldError[] {
  const seen = new Set<string>()
  return (['succeeded', 'failed'] as const).flatMap((list) =>
    (status.uncountedTerminatedPods?.[list] ?? []).flatMap((uid, i) => {
      const at = path.child('uncountedTerminatedPods', list).index(i)
      if (uid === '') return [invalid(at, uid, 'must not be empty')]
      if (seen.has(uid)) return [duplicate(at, uid)]
      seen.add(uid)
      return []
    }),
  )
}

function validateTimes(status: JobStatus, now: Facts, isCompletionNew: boolean, areTimesNew: boolean): FieldError[] {
  const { startTime, completionTime } = status
  const at = path.child('completionTime')
  const errors: FieldError[] = []
  if (isCompletionNew && completionTime && !now.complete) {
    errors.push(invalid(at, completionTime, 'cannot set completionTime when there is no Complete=True condition'))
  }
  if (isCompletionNew && !completionTime && now.complete)
    errors.push(required(at, 'completionTime is required for Complete jobs'))
  if (areTimesNew && startTime && completionTime && Date.parse(completionTime) < Date.parse(startTime)) {
    errors.push(invalid(at, completionTime, 'must be equal to or after `startTime`'))
  }
  return errors
}

function validateFinished(status: JobStatus, now: Facts, isNew: (field: keyof JobStatus) => boolean): FieldError[] {
  if (!now.finished) return []
  const errors: FieldError[] = []
  if ((status.active ?? 0) > 0 && isNew('active'))
    errors.push(invalid(path.child('active'), status.active, 'active>0 is invalid for finished job'))
  if (!status.startTime && isNew('startTime'))
    errors.push(required(path.child('startTime'), 'startTime is required for finished job'))
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  if (succeeded.length + failed.length > 0 && isNew('uncountedTerminatedPods')) {
    const shown = { Succeeded: succeeded.length ? succeeded : null, Failed: failed.length ? failed : null }
    errors.push(invalid(path.child('uncountedTerminatedPods'), shown, 'must be empty for finished job'))
  }
  return errors
}

function validateIndexLists(obj: Job, isCompletedNew: boolean, isFailedNew: boolean): FieldError[] {
  const { completions, completionMode, backoffLimitPerIndex } = obj.spec!
  const { completedIndexes = '', failedIndexes } = obj.status ?? {}
  const completedPath = path.child('completedIndexes')
  const failedPath = path.child('failedIndexes')
  const errors: FieldError[] = []
  if (isCompletedNew && completions !== undefined) {
    errors.push(...validateIndexes(completedIndexes, completions, 'completedIndexes', completedPath))
  }
  if (isFailedNew && completions !== undefined && backoffLimitPerIndex !== undefined && failedIndexes !== undefined) {
    errors.push(...validateIndexes(failedIndexes, completions, 'failedIndexes', failedPath))
  }
  if (isCompletedNew && completedIndexes !== '' && completionMode !== 'Indexed') {
    errors.push(
      invalid(
        completedPath,
        completedIndexes,
        'cannot set non-empty completedIndexes when non-indexed completion mode',
      ),
    )
  }
  if (isFailedNew && backoffLimitPerIndex === undefined && failedIndexes !== undefined) {
    errors.push(
      invalid(failedPath, failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'),
    )
  }
  if ((isFailedNew || isCompletedNew) && completions !== undefined && failedIndexes !== undefined) {
    const shared = sharedIndex(completedIndexes, failedIndexes, completions)
    if (shared !== undefined)
      errors.push(invalid(failedPath, failedIndexes, `failedIndexes and completedIndexes overlap at index: ${shared}`))
  }
  return errors
}

/** Validates that final states are not reverted. */
function validateTransition(obj: Job, status: JobStatus, was: JobStatus): FieldError[] {
  const errors: FieldError[] = []
  for (const type of ['Failed', 'Complete', 'FailureTarget'] as const) {
    errors.push(
      ...when(
        hasCondition(was, type) && !hasCondition(status, type),
        `cannot disable the terminal ${type}=True condition`,
      ),
    )
  }
  const { failed = 0, succeeded = 0, completionTime, startTime } = status
  if (failed < (was.failed ?? 0))
    errors.push(invalid(path.child('failed'), failed, 'cannot decrease the failed counter'))
  const { completionMode, completions, parallelism, suspend } = obj.spec!
  // An elastic Indexed Job (completions equal to parallelism) can be scaled down, which also removes completed indexes.
  const isElastic = completionMode === 'Indexed' && completions === parallelism
  if (!isElastic && succeeded < (was.succeeded ?? 0))
    errors.push(invalid(path.child('succeeded'), succeeded, 'cannot decrease the succeeded counter'))
  if (completionTime && was.completionTime && completionTime !== was.completionTime) {
    errors.push(invalid(path.child('completionTime'), completionTime, immutableMessage))
  }
  if (was.startTime && startTime !== was.startTime && !suspend) {
    errors.push(invalid(path.child('startTime'), startTime, 'field is immutable for unsuspended job once set'))
  }
  const metBefore = hasCondition(was, 'SuccessCriteriaMet')
  const metNow = hasCondition(status, 'SuccessCriteriaMet')
  return [
    ...errors,
    ...when(metBefore && !metNow, 'cannot disable the SuccessCriteriaMet=True condition'),
    ...when(
      hasCondition(was, 'Complete') && !metBefore && metNow,
      'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions',
    ),
  ]
}
