import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { Job, JobSpec } from '../../../api/generated/types.ts'
import { defaultPodTemplate, podTemplateWarnings } from '../../../api/kinds/pods/pod-template.ts'
import { humanDuration } from '../../../api/printing/duration.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { validateLabels } from '../../../api/validation/object-meta.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { containerColumns, selectorColumn } from '../apps/workload-columns.ts'
import { ensureTemplate, keepSpec, podNameWarnings } from '../apps/workload-rules.ts'
import { defaultPodFailurePolicy } from './job-policies.ts'
import { hasCondition, validateJobStatus } from './job-status-validation.ts'
import {
  controllerUidLabel,
  highParallelism,
  jobNameLabel,
  legacyControllerUidLabel,
  legacyJobNameLabel,
  manyCompletions,
  validateJob,
  validateJobUpdate,
} from './job-validation.ts'

const specPath = Path.of('spec')
const maxInt32 = 2147483647

const isEmpty = (map: Record<string, string> | undefined) => Object.keys(map ?? {}).length === 0

function applyDefaults(obj: Job): void {
  const spec = (obj.spec ??= {} as JobSpec)
  const template = ensureTemplate(spec)
  defaultPodTemplate(template)
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1
  spec.parallelism ??= 1
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : maxInt32
  const labels = template.metadata!.labels
  // Shares the map on purpose: as in Kubernetes, labels added to the template at creation are the Job's, too.
  if (!isEmpty(labels) && isEmpty(obj.metadata.labels)) obj.metadata.labels = labels
  spec.completionMode ??= 'NonIndexed'
  spec.suspend ??= false
  defaultPodFailurePolicy(spec.podFailurePolicy)
  spec.manualSelector ??= false
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed'
}

/** Generates the selector and the unique pod labels of a Job. Values of the user are kept for validation. */
function generateSelector(obj: Job): void {
  const spec = obj.spec!
  const { uid = '', name = '' } = obj.metadata
  const labels = (spec.template.metadata!.labels ??= {})
  labels[legacyJobNameLabel] ??= name
  labels[jobNameLabel] ??= name
  labels[legacyControllerUidLabel] ??= uid
  labels[controllerUidLabel] ??= uid
  const selector = (spec.selector ??= {})
  const wanted = (selector.matchLabels ??= {})
  wanted[controllerUidLabel] ??= uid
}

function prepareForCreate(obj: Job): void {
  if (!obj.spec!.manualSelector) generateSelector(obj)
  const labels = obj.spec!.template.metadata!.labels
  // Labels with an error in the template are not reported twice.
  const isShared =
    obj.metadata.labels === labels || (isEmpty(obj.metadata.labels) && !validateLabels(labels, specPath).length)
  if (isShared && !isEmpty(labels)) obj.metadata.labels = { ...labels }
}

/** The warnings for the spec of a Job or of a CronJob's template. */
export function jobSpecWarnings(spec: JobSpec, path: Path, old?: JobSpec): string[] {
  const warnings: string[] = []
  if (
    spec.completionMode === 'Indexed' &&
    (spec.completions ?? 0) > manyCompletions &&
    (spec.parallelism ?? 0) > highParallelism
  ) {
    warnings.push(
      `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
    )
  }
  return [...warnings, ...podTemplateWarnings(spec.template, path.child('template'), old?.template)]
}

function statusText(obj: Job): string {
  if (hasCondition(obj.status, 'Complete')) return 'Complete'
  if (hasCondition(obj.status, 'Failed')) return 'Failed'
  if (obj.metadata.deletionTimestamp) return 'Terminating'
  if (hasCondition(obj.status, 'Suspended')) return 'Suspended'
  if (hasCondition(obj.status, 'FailureTarget')) return 'FailureTarget'
  return 'Running'
}

function completionsText(obj: Job): string {
  const { completions, parallelism = 0 } = obj.spec!
  const succeeded = obj.status?.succeeded ?? 0
  if (completions !== undefined) return `${succeeded}/${completions}`
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationText(obj: Job, now: number): string {
  const { startTime, completionTime } = obj.status ?? {}
  if (!startTime) return ''
  return humanDuration((completionTime ? Date.parse(completionTime) : now) - Date.parse(startTime))
}

export const jobSelectorDescription =
  'A label query over pods that should match the pod count. Normally, the system sets this field for you. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors'

const columns: Column<Job>[] = [
  nameColumn(),
  { name: 'Status', type: 'string', description: 'Status of the job.', cell: statusText },
  {
    name: 'Completions',
    type: 'string',
    description: () => describeField('JobStatus', 'succeeded'),
    cell: completionsText,
  },
  { name: 'Duration', type: 'string', description: 'Time required to complete the job.', cell: durationText },
  ageColumn(),
  ...containerColumns<Job>((obj) => obj.spec?.template),
  selectorColumn(jobSelectorDescription, (obj) => obj.spec?.selector),
]

/** batch/v1 Jobs. */
export const jobs = defineResource<Job>({
  ...kindNames.jobs,
  nameRule: subdomainName,
  generation: true,
  defaults: applyDefaults,
  prepareForCreate,
  validate: (obj) => validateJob(obj),
  validateUpdate: validateJobUpdate,
  warnings(obj, old) {
    if (!old) return [...podNameWarnings(obj.metadata), ...jobSpecWarnings(obj.spec!, specPath)]
    return obj.metadata.generation === old.metadata.generation ? [] : jobSpecWarnings(obj.spec!, specPath, old.spec)
  },
  status: {
    prepare: keepSpec,
    validate: validateJobStatus,
  },
  defaultPropagation: 'Orphan',
  defaultPropagationWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  selectableFields: { 'status.successful': (obj) => String(obj.status?.succeeded ?? 0) },
  columns,
})
