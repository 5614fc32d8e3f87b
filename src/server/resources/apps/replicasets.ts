import { kindNames } from '../../../api/kind-names.ts'
import type { ReplicaSet, ReplicaSetSpec } from '../../../api/generated/types.ts'
import { defaultPodTemplate, podTemplateWarnings } from '../../../api/kinds/pods/pod-template.ts'
import { validateNonnegative } from '../../../api/validation/field-checks.ts'
import type { FieldError } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { containerColumns, countColumn, selectorColumn } from './workload-columns.ts'
import {
  ensureTemplate,
  keepSpec,
  podNameWarnings,
  replicaScale,
  validateAtMostReplicas,
  validateAvailableAreReady,
  validateCounts,
  validateSelectedTemplate,
  validateSelectorUnchanged,
} from './workload-rules.ts'

const specPath = Path.of('spec')
const templatePath = specPath.child('template')

/** As in Kubernetes, errors of Deployments and ReplicaSets share these words. */
export const selectorWords = {
  empty: 'empty selector is invalid for deployment',
  malformed: 'invalid label selector',
  kind: 'ReplicaSet',
}

function validateSpec(spec: ReplicaSetSpec, old?: ReplicaSetSpec): FieldError[] {
  return [
    ...validateNonnegative(spec.replicas, specPath.child('replicas')),
    ...validateNonnegative(spec.minReadySeconds, specPath.child('minReadySeconds')),
    ...validateSelectedTemplate(spec.selector, spec.template!, specPath, selectorWords, old?.template),
  ]
}

/** Validates the status of a ReplicaSet or ReplicationController. */
export function validateReplicaStatus(status: ReplicaSet['status'], path: Path): FieldError[] {
  if (!status) return []
  return [
    ...validateCounts(
      status,
      [
        'replicas',
        'fullyLabeledReplicas',
        'readyReplicas',
        'availableReplicas',
        'terminatingReplicas',
        'observedGeneration',
      ],
      path,
    ),
    ...validateAtMostReplicas(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], path),
    ...validateAvailableAreReady(status, path, 'cannot be greater than readyReplicas'),
  ]
}

/** apps/v1 ReplicaSets. */
export const replicasets = defineResource<ReplicaSet>({
  ...kindNames.replicasets,
  nameRule: subdomainName,
  generation: true,
  defaults(obj) {
    const spec = (obj.spec ??= {} as ReplicaSetSpec)
    defaultPodTemplate(ensureTemplate(spec))
    spec.replicas ??= 1
  },
  validate: (obj) => validateSpec(obj.spec!),
  validateUpdate: (obj, old) => [
    ...validateSpec(obj.spec!, old.spec),
    ...validateSelectorUnchanged(obj.spec!.selector, old.spec!.selector, specPath.child('selector')),
  ],
  warnings(obj, old) {
    if (!old) return [...podNameWarnings(obj.metadata), ...podTemplateWarnings(obj.spec!.template!, templatePath)]
    if (obj.metadata.generation === old.metadata.generation) return []
    return podTemplateWarnings(obj.spec!.template!, templatePath, old.spec!.template)
  },
  status: {
    prepare: keepSpec,
    validate: (obj) => validateReplicaStatus(obj.status, Path.of('status')),
  },
  scale: replicaScale((obj) => obj.spec?.selector),
  columns: [
    nameColumn(),
    countColumn('Desired', 'ReplicaSetSpec', 'replicas', (obj) => obj.spec?.replicas),
    countColumn('Current', 'ReplicaSetStatus', 'replicas', (obj) => obj.status?.replicas),
    countColumn('Ready', 'ReplicaSetStatus', 'readyReplicas', (obj) => obj.status?.readyReplicas),
    ageColumn(),
    ...containerColumns<ReplicaSet>((obj) => obj.spec?.template),
    selectorColumn(
      "Selector is a label query over pods that should match the replica count. Label keys and values that must match in order to be controlled by this replica set. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
      (obj) => obj.spec?.selector,
    ),
  ],
})
