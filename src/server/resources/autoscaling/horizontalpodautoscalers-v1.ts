import { kindNames } from '../../../api/kind-names.ts'
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  V2HorizontalPodAutoscaler,
} from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { autoscalerColumns } from './horizontalpodautoscalers.ts'
import {
  autoscalerFromV1,
  autoscalerToV1,
  behaviorAnnotation,
  conditionsAnnotation,
  currentMetricsAnnotation,
  metricsAnnotation,
} from './hpa-conversion.ts'
import { validateAutoscaler, validateAutoscalerStatus } from './hpa-validation.ts'

const specAnnotations = [metricsAnnotation, behaviorAnnotation]
const statusAnnotations = [currentMetricsAnnotation, conditionsAnnotation]

/** Restores the named annotations from `old`. They carry parts of the spec or status and follow its update rules. */
function restoreAnnotations(
  obj: HorizontalPodAutoscaler,
  old: HorizontalPodAutoscaler | undefined,
  names: readonly string[],
): void {
  const annotations = { ...obj.metadata.annotations }
  for (const name of names) {
    const value = old?.metadata.annotations?.[name]
    if (value === undefined) delete annotations[name]
    else annotations[name] = value
  }
  obj.metadata.annotations = Object.keys(annotations).length ? annotations : undefined
}

const columns = autoscalerColumns.map((column): Column<HorizontalPodAutoscaler> => ({
  ...column,
  cell: (obj, now) => column.cell(autoscalerFromV1(obj), now),
}))

/** autoscaling/v1 HorizontalPodAutoscalers: the objects of v2 with fewer fields and four annotations. */
export const horizontalpodautoscalersV1 = defineResource<HorizontalPodAutoscaler>({
  ...kindNames.horizontalpodautoscalersV1,
  nameRule: subdomainName,
  defaults(obj) {
    obj.spec ??= {} as HorizontalPodAutoscalerSpec
    obj.spec.minReplicas ??= 1
    // Rejects invalid annotations while decoding.
    autoscalerFromV1(obj)
  },
  prepareForCreate: (obj) => restoreAnnotations(obj, undefined, statusAnnotations),
  prepareForUpdate: (obj, old) => restoreAnnotations(obj, old, statusAnnotations),
  validate: (obj) => validateAutoscaler(autoscalerFromV1(obj)),
  validateUpdate: (obj, old) => validateAutoscaler(autoscalerFromV1(obj), autoscalerFromV1(old)),
  status: {
    prepare(obj, old) {
      obj.spec = old.spec
      restoreAnnotations(obj, old, specAnnotations)
    },
    validate: (obj) => validateAutoscalerStatus(autoscalerFromV1(obj)),
  },
  columns,
  storedAs: {
    ...kindNames.horizontalpodautoscalers,
    toStored: (obj): KubeObject => autoscalerFromV1(obj),
    fromStored: (obj) => autoscalerToV1(obj as V2HorizontalPodAutoscaler),
  },
})
