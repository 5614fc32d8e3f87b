import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { CronJob, CronJobSpec, JobTemplateSpec } from '../../../api/generated/types.ts'
import { CronScheduleError, parseCronSchedule, timeZoneProblems } from '../../../api/kinds/workloads/cron-schedule.ts'
import { defaultPodTemplate } from '../../../api/kinds/pods/pod-template.ts'
import { ageOf } from '../../../api/printing/duration.ts'
import { validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { containerColumns, selectorColumn } from '../apps/workload-columns.ts'
import { ensureTemplate, keepSpec, podNameWarnings, selectorAsGo, unsupported } from '../apps/workload-rules.ts'
import { defaultPodFailurePolicy } from './job-policies.ts'
import { validateJobSpec } from './job-validation.ts'
import { jobSelectorDescription, jobSpecWarnings } from './jobs.ts'

const specPath = Path.of('spec')
const jobSpecPath = specPath.child('jobTemplate', 'spec')

/** A Job's name is its CronJob's and eleven characters for the time, and has at most 63: 63 - 11 = 52. */
const maxNameLength = 52

const policies = ['Allow', 'Forbid', 'Replace']

function applyDefaults(obj: CronJob): void {
  const spec = (obj.spec ??= {} as CronJobSpec)
  const job = (spec.jobTemplate ??= {} as JobTemplateSpec)
  job.metadata ??= {}
  const jobSpec = (job.spec ??= {} as NonNullable<JobTemplateSpec['spec']>)
  defaultPodTemplate(ensureTemplate(jobSpec))
  defaultPodFailurePolicy(jobSpec.podFailurePolicy)
  spec.concurrencyPolicy ||= 'Allow'
  spec.suspend ??= false
  spec.successfulJobsHistoryLimit ??= 3
  spec.failedJobsHistoryLimit ??= 1
}

function validateSchedule(spec: CronJobSpec, old: CronJobSpec | undefined, path: Path): FieldError[] {
  const { schedule } = spec
  if (!schedule) return [required(path)]
  const errors: FieldError[] = []
  try {
    parseCronSchedule(schedule)
  } catch (e) {
    if (!(e instanceof CronScheduleError)) throw e
    errors.push(invalid(path, schedule, e.message))
  }
  if (!schedule.includes('TZ')) return errors
  const isOldHabit = old?.schedule.includes('TZ') ?? false
  if (!isOldHabit)
    errors.push(invalid(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  else if (spec.timeZone !== undefined)
    errors.push(invalid(path, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  return errors
}

function validateTimeZone(spec: CronJobSpec, old: CronJobSpec | undefined, path: Path): FieldError[] {
  const { timeZone } = spec
  if (timeZone === undefined || (old && old.timeZone === timeZone)) return []
  return timeZoneProblems(timeZone).map((problem) => invalid(path, timeZone, problem))
}

function validateConcurrency(policy: string | undefined, path: Path): FieldError[] {
  if (!policy) return [required(path)]
  return policies.includes(policy) ? [] : [unsupported(path, policy, policies)]
}

function validateJobTemplate(template: JobTemplateSpec, old: JobTemplateSpec | undefined): FieldError[] {
  const spec = template.spec!
  const errors = validateJobSpec(spec, jobSpecPath, old?.spec?.template)
  if (spec.selector)
    errors.push(
      invalid(jobSpecPath.child('selector'), selectorAsGo(spec.selector), '`selector` will be auto-generated'),
    )
  if (spec.manualSelector) errors.push(unsupported(jobSpecPath.child('manualSelector'), true, ['nil', 'false']))
  return errors
}

function validateSpec(spec: CronJobSpec, old?: CronJobSpec): FieldError[] {
  return [
    ...validateSchedule(spec, old, specPath.child('schedule')),
    ...validateNonnegative(spec.startingDeadlineSeconds, specPath.child('startingDeadlineSeconds')),
    ...validateTimeZone(spec, old, specPath.child('timeZone')),
    ...validateConcurrency(spec.concurrencyPolicy, specPath.child('concurrencyPolicy')),
    ...validateJobTemplate(spec.jobTemplate, old?.jobTemplate),
    ...validateNonnegative(spec.successfulJobsHistoryLimit, specPath.child('successfulJobsHistoryLimit')),
    ...validateNonnegative(spec.failedJobsHistoryLimit, specPath.child('failedJobsHistoryLimit')),
  ]
}

function validateName(name: string): FieldError[] {
  return name.length > maxNameLength
    ? [invalid(Path.of('metadata', 'name'), name, `must be no more than ${maxNameLength} characters`)]
    : []
}

const suspendText = (suspend: boolean | undefined) => (suspend === undefined ? '<unset>' : suspend ? 'True' : 'False')

const columns: Column<CronJob>[] = [
  nameColumn(),
  {
    name: 'Schedule',
    type: 'string',
    description: () => describeField('CronJobSpec', 'schedule'),
    cell: (obj) => obj.spec.schedule,
  },
  {
    name: 'Timezone',
    type: 'string',
    description: () => describeField('CronJobSpec', 'timeZone'),
    cell: (obj) => obj.spec.timeZone ?? '<none>',
  },
  {
    name: 'Suspend',
    type: 'boolean',
    description: () => describeField('CronJobSpec', 'suspend'),
    cell: (obj) => suspendText(obj.spec.suspend),
  },
  {
    name: 'Active',
    type: 'integer',
    description: () => describeField('CronJobStatus', 'active'),
    cell: (obj) => obj.status?.active?.length ?? 0,
  },
  {
    name: 'Last Schedule',
    type: 'string',
    description: () => describeField('CronJobStatus', 'lastScheduleTime'),
    cell: (obj, now) => (obj.status?.lastScheduleTime ? ageOf(obj.status.lastScheduleTime, now) : '<none>'),
  },
  ageColumn(),
  ...containerColumns<CronJob>((obj) => obj.spec.jobTemplate.spec?.template),
  selectorColumn(jobSelectorDescription, (obj) => obj.spec.jobTemplate.spec?.selector),
]

/** batch/v1 CronJobs. */
export const cronjobs = defineResource<CronJob>({
  ...kindNames.cronjobs,
  nameRule: subdomainName,
  generation: true,
  defaults: applyDefaults,
  validate: (obj) => [...validateSpec(obj.spec), ...validateName(obj.metadata.name ?? '')],
  validateUpdate: (obj, old) => validateSpec(obj.spec, old.spec),
  warnings(obj, old) {
    const spec = obj.spec.jobTemplate.spec!
    if (!old) return [...podNameWarnings(obj.metadata), ...jobSpecWarnings(spec, jobSpecPath)]
    return obj.metadata.generation === old.metadata.generation
      ? []
      : jobSpecWarnings(spec, jobSpecPath, old.spec.jobTemplate.spec)
  },
  status: {
    prepare: keepSpec,
    validate: () => [],
  },
  columns,
})
