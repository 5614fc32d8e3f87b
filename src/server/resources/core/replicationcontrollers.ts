import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { ReplicationController, ReplicationControllerSpec } from '../../../api/generated/types.ts'
import { defaultPodTemplate, podTemplateWarnings } from '../../../api/kinds/pods/pod-template.ts'
import { selectorFromMap } from '../../../api/selectors/label-selector.ts'
import { validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, required } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { validateReplicaStatus } from '../apps/replicasets.ts'
import { containerColumns, countColumn, labelsText } from '../apps/workload-columns.ts'
import {
  ensureTemplate,
  keepSpec,
  labelsMismatch,
  podNameWarnings,
  replicaScale,
  validateLongRunningTemplate,
} from '../apps/workload-rules.ts'

const specPath = Path.of('spec')
const templatePath = specPath.child('template')

const isEmpty = (map: Record<string, string> | null | undefined) => Object.keys(map ?? {}).length === 0

function applyDefaults(obj: ReplicationController): void {
  const spec: ReplicationControllerSpec = (obj.spec ??= {})
  spec.replicas ??= 1
  if (!spec.template) return
  const template = ensureTemplate(spec)
  defaultPodTemplate(template)
  const labels = template.metadata!.labels
  if (isEmpty(labels)) return
  if (isEmpty(spec.selector)) spec.selector = { ...labels }
  if (isEmpty(obj.metadata.labels)) obj.metadata.labels = { ...labels }
}

function validateSpec(spec: ReplicationControllerSpec, old?: ReplicationControllerSpec): FieldError[] {
  const errors = [
    ...validateNonnegative(spec.minReadySeconds, specPath.child('minReadySeconds')),
    ...(isEmpty(spec.selector) ? [required(specPath.child('selector'))] : []),
    ...validateNonnegative(spec.replicas, specPath.child('replicas')),
  ]
  const { template } = spec
  if (!template) return [...errors, required(templatePath)]
  if (!selectorFromMap(spec.selector)(template.metadata?.labels)) errors.push(labelsMismatch(template, templatePath))
  return [...errors, ...validateLongRunningTemplate(template, templatePath, 'ReplicationController', old?.template)]
}

const columns: Column<ReplicationController>[] = [
  nameColumn(),
  countColumn('Desired', 'ReplicationControllerSpec', 'replicas', (obj) => obj.spec?.replicas),
  countColumn('Current', 'ReplicationControllerStatus', 'replicas', (obj) => obj.status?.replicas),
  countColumn('Ready', 'ReplicationControllerStatus', 'readyReplicas', (obj) => obj.status?.readyReplicas),
  ageColumn(),
  ...containerColumns<ReplicationController>((obj) => obj.spec?.template),
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description: () => describeField('ReplicationControllerSpec', 'selector'),
    cell: (obj) => labelsText(obj.spec?.selector),
  },
]

/** core/v1 ReplicationControllers. */
export const replicationcontrollers = defineResource<ReplicationController>({
  ...kindNames.replicationcontrollers,
  nameRule: subdomainName,
  generation: true,
  defaults: applyDefaults,
  validate: (obj) => validateSpec(obj.spec!),
  validateUpdate: (obj, old) => validateSpec(obj.spec!, old.spec),
  warnings(obj, old) {
    const ofTemplate = obj.spec?.template
      ? podTemplateWarnings(obj.spec.template, templatePath, old?.spec?.template)
      : []
    if (!old) return [...podNameWarnings(obj.metadata), ...ofTemplate]
    return obj.metadata.generation === old.metadata.generation ? [] : ofTemplate
  },
  status: {
    prepare: keepSpec,
    validate: (obj) => validateReplicaStatus(obj.status, Path.of('status')),
  },
  scale: replicaScale((obj) => ({ matchLabels: obj.spec?.selector })),
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.replicas': (obj) => String(obj.status?.replicas ?? 0) },
  columns,
})
