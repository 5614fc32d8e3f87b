import { semanticEqual } from '../../../api/deep-equal.ts'
import type {
  PodTemplateSpec,
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from '../../../api/generated/types.ts'
import { isNotMoreThan100Percent, validateNonnegativeIntOrPercent } from '../../../api/numbers/int-or-string.ts'
import { validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, invalid, required } from '../../../api/validation/field-error.ts'
import { isDns1123Label } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { claimVolumes, validateClaimTemplates } from './claim-templates.ts'
import { validateDeadline } from './progress-deadline.ts'
import {
  plainValue,
  unsupported,
  validateAtMostReplicas,
  validateAvailableAreReady,
  validateCollisionCount,
  validateCounts,
  validateSelectedTemplate,
} from './workload-rules.ts'

const specPath = Path.of('spec')
const statusPath = Path.of('status')

// Formats the structure as Kubernetes' messages do.
const asGo = (rolling: RollingUpdateStatefulSetStrategy | undefined) =>
  rolling ? { Partition: rolling.partition ?? 0, MaxUnavailable: rolling.maxUnavailable ?? null } : null

function validatePodManagementPolicy(policy: string | undefined, path: Path): FieldError[] {
  if (!policy) return [required(path)]
  return ['OrderedReady', 'Parallel'].includes(policy)
    ? []
    : [invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")]
}

function validateRollingUpdate(rolling: RollingUpdateStatefulSetStrategy, path: Path): FieldError[] {
  const errors = validateNonnegative(rolling.partition, path.child('partition'))
  const { maxUnavailable } = rolling
  if (maxUnavailable === undefined) return errors
  const at = path.child('maxUnavailable')
  errors.push(...validateNonnegativeIntOrPercent(maxUnavailable, at))
  if (plainValue(maxUnavailable) === 0) errors.push(invalid(at, maxUnavailable, 'cannot be 0'))
  return [...errors, ...isNotMoreThan100Percent(maxUnavailable, at)]
}

function validateUpdateStrategy(strategy: StatefulSetUpdateStrategy, path: Path): FieldError[] {
  const { type, rollingUpdate } = strategy
  switch (type) {
    case undefined:
    case '':
      return [required(path)]
    case 'OnDelete':
      return rollingUpdate
        ? [invalid(path.child('rollingUpdate'), asGo(rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'")]
        : []
    case 'RollingUpdate':
      return rollingUpdate ? validateRollingUpdate(rollingUpdate, path.child('rollingUpdate')) : []
    default:
      return [
        invalid(path, { Type: type, RollingUpdate: asGo(rollingUpdate) }, "must be 'RollingUpdate' or 'OnDelete'"),
      ]
  }
}

function validateRetention(
  policy: StatefulSetPersistentVolumeClaimRetentionPolicy | undefined,
  path: Path,
): FieldError[] {
  if (!policy) return []
  const allowed = ['Retain', 'Delete']
  return (['whenDeleted', 'whenScaled'] as const).flatMap((when) =>
    allowed.includes(policy[when] ?? '') ? [] : [unsupported(path.child(when), policy[when] ?? '', allowed)],
  )
}

/** The template with a volume for every claim template and a host name, as its pods have it. */
function asInPods(spec: StatefulSetSpec): PodTemplateSpec {
  const claims = new Map(claimVolumes(spec.volumeClaimTemplates).map((volume) => [volume.name, volume]))
  const pod = spec.template.spec
  const volumes = [...claims.values(), ...(pod.volumes ?? []).filter((volume) => !claims.has(volume.name))]
  return { ...spec.template, spec: { ...pod, volumes, hostname: undefined, subdomain: undefined } }
}

const selectorWords = { empty: 'empty selector is invalid for statefulset', malformed: '', kind: 'StatefulSet' }

/** Validates a StatefulSet's spec. */
export function validateStatefulSetSpec(spec: StatefulSetSpec, old?: StatefulSetSpec): FieldError[] {
  return [
    ...validatePodManagementPolicy(spec.podManagementPolicy, specPath.child('podManagementPolicy')),
    ...validateUpdateStrategy(spec.updateStrategy ?? {}, specPath.child('updateStrategy')),
    ...validateRetention(
      spec.persistentVolumeClaimRetentionPolicy,
      specPath.child('persistentVolumeClaimRetentionPolicy'),
    ),
    ...validateNonnegative(spec.replicas, specPath.child('replicas')),
    ...validateNonnegative(spec.minReadySeconds, specPath.child('minReadySeconds')),
    ...validateNonnegative(spec.ordinals?.start, specPath.child('ordinals', 'start')),
    ...(spec.serviceName
      ? isDns1123Label(spec.serviceName).map((problem) =>
          invalid(specPath.child('serviceName'), spec.serviceName, problem),
        )
      : []),
    ...validateClaimTemplates(spec.volumeClaimTemplates, specPath.child('volumeClaimTemplates')),
    ...validateSelectedTemplate(spec.selector, asInPods(spec), specPath, selectorWords, old && asInPods(old)),
    ...validateDeadline(spec, specPath),
  ]
}

const mutable: ReadonlySet<string> = new Set<keyof StatefulSetSpec>([
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
  'progressDeadlineSeconds',
])

const fixedPart = (spec: StatefulSetSpec) =>
  Object.fromEntries(Object.entries(spec).filter(([field]) => !mutable.has(field)))

/** Validates an update of a StatefulSet. */
export function validateStatefulSetUpdate(obj: StatefulSet, old: StatefulSet): FieldError[] {
  const errors = validateStatefulSetSpec(obj.spec!, old.spec)
  if (!semanticEqual(fixedPart(obj.spec!), fixedPart(old.spec!))) {
    errors.push(
      forbidden(
        specPath,
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    )
  }
  return errors
}

/** Validates a StatefulSet's status. */
export function validateStatefulSetStatus(obj: StatefulSet, old: StatefulSet): FieldError[] {
  const status: Partial<NonNullable<StatefulSet['status']>> = obj.status ?? {}
  const ofPods = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const
  const ofSpec = ['desiredReplicas', 'expectedUpdatedReplicas'] as const
  return [
    ...validateCounts(status, ['replicas', ...ofPods, 'observedGeneration', 'collisionCount', ...ofSpec], statusPath),
    ...validateAtMostReplicas(status, ofPods, statusPath),
    ...validateAvailableAreReady(status, statusPath, 'cannot be greater than status.readyReplicas'),
    ...validateCollisionCount(status, old.status, statusPath),
  ]
}
