import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { V2HorizontalPodAutoscaler } from '../../../api/generated/types.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { keepSpec } from '../apps/workload-rules.ts'
import { withoutConversionAnnotations } from './hpa-conversion.ts'
import { defaultAutoscaler } from './hpa-defaults.ts'
import { targetsText } from './hpa-targets.ts'
import { validateAutoscaler, validateAutoscalerStatus } from './hpa-validation.ts'

const describeSpec = (field: string) => () => describeField('V2HorizontalPodAutoscalerSpec', field)

/** The columns of autoscalers of both versions. */
export const autoscalerColumns: Column<V2HorizontalPodAutoscaler>[] = [
  nameColumn(),
  {
    name: 'Reference',
    type: 'string',
    description:
      'scaleTargetRef points to the target resource to scale, and is used to the pods for which metrics should be collected, as well as to actually change the replica count.',
    cell: (obj) => `${obj.spec.scaleTargetRef.kind}/${obj.spec.scaleTargetRef.name}`,
  },
  { name: 'Targets', type: 'string', description: describeSpec('metrics'), cell: targetsText },
  {
    name: 'MinPods',
    type: 'string',
    description: describeSpec('minReplicas'),
    cell: (obj) => String(obj.spec.minReplicas ?? '<unset>'),
  },
  { name: 'MaxPods', type: 'string', description: describeSpec('maxReplicas'), cell: (obj) => obj.spec.maxReplicas },
  {
    name: 'Replicas',
    type: 'string',
    description: () => describeField('V2HorizontalPodAutoscalerStatus', 'currentReplicas'),
    cell: (obj) => obj.status?.currentReplicas ?? 0,
  },
  ageColumn(),
]

/** autoscaling/v2 HorizontalPodAutoscalers. */
export const horizontalpodautoscalers = defineResource<V2HorizontalPodAutoscaler>({
  ...kindNames.horizontalpodautoscalers,
  type: 'V2HorizontalPodAutoscaler',
  nameRule: subdomainName,
  defaults(obj) {
    obj.metadata.annotations = withoutConversionAnnotations(obj.metadata.annotations)
    defaultAutoscaler(obj)
  },
  validate: (obj) => validateAutoscaler(obj),
  validateUpdate: validateAutoscaler,
  status: {
    prepare: keepSpec,
    validate: validateAutoscalerStatus,
  },
  columns: autoscalerColumns,
})
