import type {
  CloneSet,
  ObjectMeta,
  RollingUpdateCloneSetStrategy,
  V1beta1CloneSet,
} from '../../../api/generated/types.ts'
import { giveImageAnnotations, takeImageAnnotations } from './image-annotations.ts'

/** The v1alpha1 form of `excludePreparingDelete`. */
const excludeLabel = 'apps.kruise.io/cloneset-scaling-exclude-preparing-delete'

const isExcluding = (meta: ObjectMeta) => meta.labels?.[excludeLabel] === 'true'

/** Converts v1beta1 to the stored version v1alpha1. */
export function cloneSetFromV1beta1(obj: V1beta1CloneSet): CloneSet {
  const { scaleStrategy, updateStrategy, ...spec } = obj.spec
  const { enablePVCReuse, disablePVCReuse: _never, excludePreparingDelete, ...scaling } = scaleStrategy
  const { podUpdatePolicy = 'ReCreate', inPlaceUpdateStrategy, ...rolling } = updateStrategy.rollingUpdate ?? {}
  const { meta, ...inPlace } = giveImageAnnotations(obj.metadata, inPlaceUpdateStrategy ?? {})
  const saysInPlace = podUpdatePolicy.startsWith('InPlace') || Object.keys(inPlace).length > 0
  return {
    ...obj,
    apiVersion: 'apps.kruise.io/v1alpha1',
    metadata: meta,
    spec: {
      ...spec,
      scaleStrategy: {
        ...scaling,
        ...(excludePreparingDelete && !isExcluding(meta) ? { excludePreparingDelete } : {}),
        ...(enablePVCReuse ? {} : { disablePVCReuse: true }),
      },
      updateStrategy: { type: podUpdatePolicy, ...rolling, ...(saysInPlace ? { inPlaceUpdateStrategy: inPlace } : {}) },
    },
  }
}

/** Converts the stored version v1alpha1 to v1beta1. */
export function cloneSetToV1beta1(obj: CloneSet): V1beta1CloneSet {
  const { scaleStrategy, updateStrategy, ...spec } = obj.spec
  const { disablePVCReuse, excludePreparingDelete, ...scaling } = scaleStrategy
  const { type, ...rest } = updateStrategy
  const metadata = { ...obj.metadata }
  const rollingUpdate: RollingUpdateCloneSetStrategy = { podUpdatePolicy: type, ...rest }
  takeImageAnnotations(metadata, rollingUpdate)
  return {
    ...obj,
    apiVersion: 'apps.kruise.io/v1beta1',
    metadata,
    spec: {
      ...spec,
      scaleStrategy: {
        ...scaling,
        ...(excludePreparingDelete || isExcluding(metadata) ? { excludePreparingDelete: true } : {}),
        enablePVCReuse: !disablePVCReuse,
      },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate },
    },
  }
}
