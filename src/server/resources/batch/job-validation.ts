import { semanticEqual } from '../../../api/deep-equal.ts'
import type { Container, Job, JobSpec, PodTemplateSpec } from '../../../api/generated/types.ts'
import { validatePodTemplateSpec } from '../../../api/kinds/pods/pod-template.ts'
import { labelSelectorMatches, validateLabelSelector } from '../../../api/selectors/label-selector.ts'
import { immutableMessage, validateImmutableField, validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, required, tooLong } from '../../../api/validation/field-error.ts'
import { byteLength, isDns1123Label, isDns1123Subdomain, regexMessage } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import {
  isUsableSelector,
  labelsMismatch,
  mapAsGo,
  selectorAsGo,
  unsupported,
  validateSelectorUnchanged,
} from '../apps/workload-rules.ts'
import {
  podFailurePolicyAsGo,
  successPolicyAsGo,
  validatePodFailurePolicy,
  validateSuccessPolicy,
} from './job-policies.ts'

export const controllerUidLabel = 'batch.kubernetes.io/controller-uid'
export const jobNameLabel = 'batch.kubernetes.io/job-name'
export const legacyControllerUidLabel = 'controller-uid'
export const legacyJobNameLabel = 'job-name'

const maxParallelism = 100_000
const maxFailedIndexes = 100_000
/** Above this number of completions, the two limits below keep status.completedIndexes short. */
export const manyCompletions = 100_000
export const highParallelism = 10_000
const highFailedIndexes = 10_000
const maxManagedByLength = 63

const specPath = Path.of('spec')

/** Validates the spec of a Job or of a CronJob's template, without the selector. */
export function validateJobSpec(spec: JobSpec, path: Path, old?: PodTemplateSpec): FieldError[] {
  return [
    ...validateNonnegative(spec.parallelism, path.child('parallelism')),
    ...validateNonnegative(spec.completions, path.child('completions')),
    ...validateNonnegative(spec.activeDeadlineSeconds, path.child('activeDeadlineSeconds')),
    ...validateNonnegative(spec.backoffLimit, path.child('backoffLimit')),
    ...validateNonnegative(spec.ttlSecondsAfterFinished, path.child('ttlSecondsAfterFinished')),
    ...validateNonnegative(spec.backoffLimitPerIndex, path.child('backoffLimitPerIndex')),
    ...validateNonnegative(spec.maxFailedIndexes, path.child('maxFailedIndexes')),
    ...(spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined
      ? [required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified')]
      : []),
    ...validateManagedBy(spec.managedBy, path.child('managedBy')),
    ...validateCompletionMode(spec, path),
    ...validatePodFailurePolicy(spec, path.child('podFailurePolicy')),
    ...validateSuccessPolicy(spec, path.child('successPolicy')),
    ...validateReplacement(spec, path.child('podReplacementPolicy')),
    ...validatePodTemplateSpec(spec.template, path.child('template'), old ? { old } : {}),
    ...validateRestartPolicy(spec, path.child('template', 'spec', 'restartPolicy')),
  ]
}

const pathMessage = regexMessage('Invalid path', "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+")

function validateManagedBy(managedBy: string | undefined, path: Path): FieldError[] {
  if (managedBy === undefined) return []
  if (managedBy === '') return [required(path)]
  const errors: FieldError[] = []
  const slash = managedBy.indexOf('/')
  const host = managedBy.slice(0, Math.max(0, slash))
  const rest = managedBy.slice(slash + 1)
  if (host === '' || rest === '') {
    errors.push(invalid(path, managedBy, 'must be a domain-prefixed path (such as "acme.io/foo")'))
  } else {
    errors.push(...isDns1123Subdomain(host).map((problem) => invalid(path, host, problem)))
    if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest)) errors.push(invalid(path, rest, pathMessage))
  }
  if (byteLength(managedBy) > maxManagedByLength) errors.push(tooLong(path, maxManagedByLength))
  return errors
}

function validateCompletionMode(spec: JobSpec, path: Path): FieldError[] {
  const mode = spec.completionMode
  if (mode === 'Indexed') return validateIndexed(spec, path)
  if (mode !== undefined && mode !== 'NonIndexed')
    return [unsupported(path.child('completionMode'), mode, ['NonIndexed', 'Indexed'])]
  return (['backoffLimitPerIndex', 'maxFailedIndexes'] as const).flatMap((field) =>
    spec[field] === undefined ? [] : [invalid(path.child(field), spec[field], 'requires indexed completion mode')],
  )
}

function validateIndexed(spec: JobSpec, path: Path): FieldError[] {
  const { completions, parallelism = 0, maxFailedIndexes: failed } = spec
  const failedPath = path.child('maxFailedIndexes')
  const errors: FieldError[] = []
  if (completions === undefined) errors.push(required(path.child('completions'), 'when completion mode is Indexed'))
  if (parallelism > maxParallelism) {
    errors.push(
      invalid(
        path.child('parallelism'),
        parallelism,
        `must be less than or equal to ${maxParallelism} when completion mode is Indexed`,
      ),
    )
  }
  if (completions !== undefined && failed !== undefined && failed > completions) {
    errors.push(invalid(failedPath, failed, 'must be less than or equal to completions'))
  }
  if (failed !== undefined && failed > maxFailedIndexes)
    errors.push(invalid(failedPath, failed, `must be less than or equal to ${maxFailedIndexes}`))
  if (completions === undefined || completions <= manyCompletions || spec.backoffLimitPerIndex === undefined)
    return errors
  const when = `when completions are above ${manyCompletions} and used with backoff limit per index`
  if (failed === undefined)
    errors.push(required(failedPath, `must be specified when completions is above ${manyCompletions}`))
  if (parallelism > highParallelism)
    errors.push(
      invalid(path.child('parallelism'), parallelism, `must be less than or equal to ${highParallelism} ${when}`),
    )
  if (failed !== undefined && failed > highFailedIndexes)
    errors.push(invalid(failedPath, failed, `must be less than or equal to ${highFailedIndexes} ${when}`))
  return errors
}

function validateReplacement(spec: JobSpec, path: Path): FieldError[] {
  const policy = spec.podReplacementPolicy
  if (policy === undefined) return []
  const allowed = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']
  return allowed.includes(policy) ? [] : [unsupported(path, policy, allowed)]
}

function validateRestartPolicy(spec: JobSpec, path: Path): FieldError[] {
  const policy = spec.template.spec?.restartPolicy ?? ''
  // An absent policy has the default Always.
  if (policy === '' || policy === 'Always') return [required(path, 'valid values: "OnFailure", "Never"')]
  if (policy !== 'OnFailure' && policy !== 'Never') return [unsupported(path, policy, ['OnFailure', 'Never'])]
  if (spec.podFailurePolicy && policy !== 'Never')
    return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
  return []
}

function validateSpecWithSelector(spec: JobSpec, old?: PodTemplateSpec): FieldError[] {
  const selectorPath = specPath.child('selector')
  const errors = validateJobSpec(spec, specPath, old)
  errors.push(...(spec.selector ? validateLabelSelector(spec.selector, selectorPath) : [required(selectorPath)]))
  if (
    isUsableSelector(spec.selector, selectorPath) &&
    !labelSelectorMatches(spec.selector, spec.template.metadata?.labels)
  ) {
    errors.push(labelsMismatch(spec.template, specPath.child('template')))
  }
  return errors
}

function validateHasLabel(template: PodTemplateSpec, key: string, value: string): FieldError[] {
  const labels = template.metadata?.labels ?? {}
  const at = specPath.child('template', 'metadata', 'labels').key(key)
  if (!Object.hasOwn(labels, key)) return [required(at, `must be '${value}'`)]
  return labels[key] === value ? [] : [invalid(at, mapAsGo(labels), `must be '${value}'`)]
}

/** Validates the generated selector and labels, unless manualSelector is set. */
function validateGeneratedSelector(obj: Job, requirePrefixed: boolean): FieldError[] {
  const spec = obj.spec!
  if (spec.manualSelector || !spec.selector) return []
  const { uid = '', name = '' } = obj.metadata
  const expected: Record<string, string> = { [legacyControllerUidLabel]: uid, [legacyJobNameLabel]: name }
  if (requirePrefixed) Object.assign(expected, { [controllerUidLabel]: uid, [jobNameLabel]: name })
  const errors = uid ? [] : [required(Path.of('metadata', 'uid'))]
  for (const [key, value] of Object.entries(expected)) errors.push(...validateHasLabel(spec.template, key, value))
  const selectorPath = specPath.child('selector')
  if (isUsableSelector(spec.selector, selectorPath) && !labelSelectorMatches(spec.selector, expected)) {
    errors.push(invalid(selectorPath, selectorAsGo(spec.selector), '`selector` not auto-generated'))
  }
  return errors
}

/** Validates a Job. */
export function validateJob(obj: Job, old?: Job): FieldError[] {
  const spec = obj.spec!
  const oldLabels = old?.spec!.template.metadata?.labels
  const requirePrefixed =
    !old || (oldLabels?.[jobNameLabel] !== undefined && oldLabels[controllerUidLabel] !== undefined)
  return [
    ...validateGeneratedSelector(obj, requirePrefixed),
    ...validateSpecWithSelector(spec, old?.spec!.template),
    ...validatePodHostnames(obj),
  ]
}

/** Validates that the host names of an Indexed Job's pods, which end in the index, are valid. */
function validatePodHostnames(obj: Job): FieldError[] {
  const { completionMode, completions = 0 } = obj.spec!
  if (completionMode !== 'Indexed' || completions <= 0) return []
  const longest = `${obj.metadata.name ?? ''}-${completions - 1}`
  if (!isDns1123Label(longest).length) return []
  return [
    invalid(
      Path.of('metadata', 'name'),
      obj.metadata.name ?? '',
      `will not able to create pod with invalid DNS label: ${longest}`,
    ),
  ]
}

/** Validates an update of a Job. As in Kubernetes, the new spec is validated twice and has duplicate errors. */
export function validateJobUpdate(obj: Job, old: Job): FieldError[] {
  const [spec, was] = [obj.spec!, old.spec!]
  return [
    ...validateJob(obj, old),
    ...validateSpecWithSelector(spec, was.template),
    ...validateCompletionsUpdate(spec, was, specPath.child('completions')),
    ...validateSelectorUnchanged(spec.selector, was.selector, specPath.child('selector')),
    ...validateTemplateUpdate(obj, old),
    ...validateImmutableField(spec.completionMode, was.completionMode, specPath.child('completionMode')),
    ...fixed(spec.podFailurePolicy, was.podFailurePolicy, podFailurePolicyAsGo, 'podFailurePolicy'),
    ...validateImmutableField(
      spec.backoffLimitPerIndex,
      was.backoffLimitPerIndex,
      specPath.child('backoffLimitPerIndex'),
    ),
    ...validateImmutableField(spec.managedBy, was.managedBy, specPath.child('managedBy')),
    ...fixed(spec.successPolicy, was.successPolicy, successPolicyAsGo, 'successPolicy'),
  ]
}

function fixed<T>(value: T, old: T, shown: (value: T) => unknown, field: string): FieldError[] {
  return semanticEqual(value, old) ? [] : [invalid(specPath.child(field), shown(value), immutableMessage)]
}

function validateCompletionsUpdate(spec: JobSpec, old: JobSpec, path: Path): FieldError[] {
  if (spec.completionMode !== 'Indexed') return validateImmutableField(spec.completions, old.completions, path)
  // Unset completions of an Indexed Job have their own error.
  if (spec.completions === old.completions || spec.completions === undefined) return []
  if (spec.completions === spec.parallelism) return []
  return [invalid(path, spec.completions, 'can only be modified in tandem with spec.parallelism')]
}

/**
 * Validates a change of the template. A suspended Job without running pods may change its scheduling directives and
 * resources.
 */
function validateTemplateUpdate(obj: Job, old: Job): FieldError[] {
  const { startTime, active, conditions = [] } = old.status ?? {}
  const isStopped = conditions.some((condition) => condition.type === 'Suspended' && condition.status === 'True')
  const isIdle = !active && (!startTime || isStopped)
  const isMutable = old.spec!.suspend === true && isIdle
  const next = obj.spec!.template
  const was = isMutable ? withPlacementOf(old.spec!.template, next) : old.spec!.template
  return semanticEqual(next, was) ? [] : [invalid(specPath.child('template'), next, immutableMessage)]
}

function withPlacementOf(old: PodTemplateSpec, next: PodTemplateSpec): PodTemplateSpec {
  const affinity = { ...old.spec?.affinity, nodeAffinity: next.spec?.affinity?.nodeAffinity }
  return {
    ...old,
    metadata: { ...old.metadata, labels: next.metadata?.labels, annotations: next.metadata?.annotations },
    spec: {
      ...old.spec,
      affinity,
      nodeSelector: next.spec?.nodeSelector,
      tolerations: next.spec?.tolerations,
      schedulingGates: next.spec?.schedulingGates,
      containers: withResourcesOf(old.spec?.containers ?? [], next.spec?.containers ?? []),
      initContainers: withResourcesOf(old.spec?.initContainers ?? [], next.spec?.initContainers ?? []),
    },
  }
}

function withResourcesOf(old: readonly Container[], next: readonly Container[]): Container[] {
  return old.map((container, i) =>
    next[i]?.name === container.name ? { ...container, resources: next[i].resources } : container,
  )
}
