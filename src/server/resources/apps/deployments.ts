import { kindNames } from '../../../api/kind-names.ts'
import { semanticEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { Deployment, DeploymentSpec, DeploymentStrategy } from '../../../api/generated/types.ts'
import { isNotMoreThan100Percent, validateNonnegativeIntOrPercent } from '../../../api/numbers/int-or-string.ts'
import { defaultPodTemplate, podTemplateWarnings } from '../../../api/kinds/pods/pod-template.ts'
import { validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, invalid } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { selectorWords } from './replicasets.ts'
import { containerColumns, readyColumn, selectorColumn } from './workload-columns.ts'
import {
  ensureTemplate,
  plainValue,
  podNameWarnings,
  replicaScale,
  unsupported,
  validateAtMostReplicas,
  validateAvailableAreReady,
  validateCollisionCount,
  validateCounts,
  validateSelectedTemplate,
  validateSelectorUnchanged,
} from './workload-rules.ts'

const specPath = Path.of('spec')
const statusPath = Path.of('status')
const templatePath = specPath.child('template')

function applyDefaults(obj: Deployment): void {
  const spec = (obj.spec ??= {} as DeploymentSpec)
  defaultPodTemplate(ensureTemplate(spec))
  spec.replicas ??= 1
  const strategy: DeploymentStrategy = (spec.strategy ??= {})
  strategy.type ||= 'RollingUpdate'
  if (strategy.type === 'RollingUpdate') {
    const rolling = (strategy.rollingUpdate ??= {})
    rolling.maxUnavailable ??= '25%'
    rolling.maxSurge ??= '25%'
  }
  spec.revisionHistoryLimit ??= 10
  spec.progressDeadlineSeconds ??= 600
}

function validateStrategy(strategy: DeploymentStrategy, path: Path): FieldError[] {
  const { type, rollingUpdate } = strategy
  if (type === 'Recreate') {
    return rollingUpdate
      ? [forbidden(path.child('rollingUpdate'), "may not be specified when strategy `type` is 'Recreate'")]
      : []
  }
  if (type !== 'RollingUpdate') {
    const rolling = rollingUpdate
      ? { MaxUnavailable: rollingUpdate.maxUnavailable ?? 0, MaxSurge: rollingUpdate.maxSurge ?? 0 }
      : null
    return [unsupported(path, { Type: type, RollingUpdate: rolling }, ['Recreate', 'RollingUpdate'])]
  }
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {}
  const at = path.child('rollingUpdate')
  const errors = [
    ...validateNonnegativeIntOrPercent(maxUnavailable, at.child('maxUnavailable')),
    ...validateNonnegativeIntOrPercent(maxSurge, at.child('maxSurge')),
  ]
  if (plainValue(maxUnavailable) === 0 && plainValue(maxSurge) === 0) {
    errors.push(invalid(at.child('maxUnavailable'), maxUnavailable, 'may not be 0 when `maxSurge` is 0'))
  }
  return [...errors, ...isNotMoreThan100Percent(maxUnavailable, at.child('maxUnavailable'))]
}

function validateSpec(spec: DeploymentSpec, old?: DeploymentSpec): FieldError[] {
  const errors = [
    ...validateNonnegative(spec.replicas, specPath.child('replicas')),
    ...validateSelectedTemplate(spec.selector, spec.template, specPath, selectorWords, old?.template),
    ...validateStrategy(spec.strategy ?? {}, specPath.child('strategy')),
    ...validateNonnegative(spec.minReadySeconds, specPath.child('minReadySeconds')),
    ...validateNonnegative(spec.revisionHistoryLimit, specPath.child('revisionHistoryLimit')),
  ]
  const deadline = spec.progressDeadlineSeconds
  if (deadline !== undefined) {
    errors.push(...validateNonnegative(deadline, specPath.child('progressDeadlineSeconds')))
    if (deadline <= (spec.minReadySeconds ?? 0)) {
      errors.push(invalid(specPath.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds'))
    }
  }
  return errors
}

function validateStatus(obj: Deployment, old: Deployment): FieldError[] {
  const status = obj.status ?? {}
  return [
    ...validateCounts(
      status,
      [
        'observedGeneration',
        'replicas',
        'updatedReplicas',
        'readyReplicas',
        'availableReplicas',
        'unavailableReplicas',
        'terminatingReplicas',
        'collisionCount',
      ],
      statusPath,
    ),
    ...validateAtMostReplicas(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], statusPath),
    ...validateAvailableAreReady(status, statusPath, 'cannot be greater than readyReplicas'),
    ...validateCollisionCount(status, old.status, statusPath),
  ]
}

const columns: Column<Deployment>[] = [
  nameColumn(),
  readyColumn(
    (obj) => obj.status?.readyReplicas,
    (obj) => obj.spec?.replicas,
  ),
  {
    name: 'Up-to-date',
    type: 'string',
    description: () => describeField('DeploymentStatus', 'updatedReplicas'),
    cell: (obj) => obj.status?.updatedReplicas ?? 0,
  },
  {
    name: 'Available',
    type: 'string',
    description: () => describeField('DeploymentStatus', 'availableReplicas'),
    cell: (obj) => obj.status?.availableReplicas ?? 0,
  },
  ageColumn(),
  ...containerColumns<Deployment>((obj) => obj.spec?.template),
  selectorColumn(
    "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this deployment. It must match the pod template's labels.",
    (obj) => obj.spec?.selector,
  ),
]

/** apps/v1 Deployments. */
export const deployments = defineResource<Deployment>({
  ...kindNames.deployments,
  nameRule: subdomainName,
  // The controller copies annotations to ReplicaSets, so they increment the generation too.
  generation: {
    changed: (obj, old) =>
      !semanticEqual(obj.spec, old.spec) || !semanticEqual(obj.metadata.annotations, old.metadata.annotations),
  },
  defaults: applyDefaults,
  validate: (obj) => validateSpec(obj.spec!),
  validateUpdate: (obj, old) => [
    ...validateSpec(obj.spec!, old.spec),
    ...validateSelectorUnchanged(obj.spec!.selector, old.spec!.selector, specPath.child('selector')),
  ],
  warnings(obj, old) {
    if (!old) return [...podNameWarnings(obj.metadata), ...podTemplateWarnings(obj.spec!.template, templatePath)]
    if (obj.metadata.generation === old.metadata.generation) return []
    return podTemplateWarnings(obj.spec!.template, templatePath, old.spec!.template)
  },
  status: {
    prepare(obj, old) {
      obj.spec = old.spec
      obj.metadata.labels = old.metadata.labels
    },
    validate: validateStatus,
  },
  scale: replicaScale((obj) => obj.spec?.selector),
  columns,
})
