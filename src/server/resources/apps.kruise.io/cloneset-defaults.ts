import type {
  CloneSet,
  CloneSetSpec,
  RollingUpdateCloneSetStrategy,
  V1beta1CloneSet,
  V1beta1CloneSetScaleStrategy,
  V1beta1CloneSetSpec,
  V1beta1CloneSetUpdateStrategy,
} from '../../../api/generated/types.ts'
import { defaultPodTemplate } from '../../../api/kinds/pods/pod-template.ts'
import { defaultClaimTemplates } from '../apps/claim-templates.ts'
import { ensureTemplate } from '../apps/workload-rules.ts'
import { type Rollout, type SharedSpec, podUpdatePolicies } from './cloneset-spec.ts'
import { takeImageAnnotations } from './image-annotations.ts'

function defaultShared(spec: SharedSpec): void {
  defaultPodTemplate(ensureTemplate(spec))
  defaultClaimTemplates(spec.volumeClaimTemplates)
  spec.replicas ??= 1
  spec.revisionHistoryLimit ??= 10
  spec.progressDeadlineSeconds ??= 600
}

function defaultRolling(rolling: Rollout['rolling'], policy: string): void {
  if (policy.startsWith('InPlace')) rolling.inPlaceUpdateStrategy ??= {}
  rolling.partition ??= 0
  rolling.maxUnavailable ??= '20%'
  rolling.maxSurge ??= 0
}

/** Applies the defaults of a v1alpha1 CloneSet. */
export function defaultCloneSet(obj: CloneSet): void {
  const spec = (obj.spec ??= {} as CloneSetSpec)
  spec.scaleStrategy ??= {}
  const strategy = (spec.updateStrategy ??= {})
  strategy.type ||= 'ReCreate'
  defaultShared(spec)
  defaultRolling(strategy, strategy.type)
}

/** Applies the defaults of a v1beta1 CloneSet, and translates fields of v1alpha1. */
export function defaultV1beta1CloneSet(obj: V1beta1CloneSet): void {
  const spec = (obj.spec ??= {} as V1beta1CloneSetSpec)
  spec.scaleStrategy = translateScaling(spec.scaleStrategy ?? {})
  spec.updateStrategy = translateStrategy(spec.updateStrategy ?? {})
  defaultShared(spec)
  const rolling = spec.updateStrategy.rollingUpdate!
  takeImageAnnotations(obj.metadata, rolling)
  rolling.podUpdatePolicy ||= 'ReCreate'
  defaultRolling(rolling, rolling.podUpdatePolicy)
}

function translateScaling({ disablePVCReuse, ...scaling }: V1beta1CloneSetScaleStrategy): V1beta1CloneSetScaleStrategy {
  const reuse = disablePVCReuse === undefined ? scaling.enablePVCReuse : !disablePVCReuse
  return { ...scaling, enablePVCReuse: reuse ?? false }
}

/** v1beta1 never returns fields of v1alpha1. If they are present, the writer has set them, and they take precedence. */
function translateStrategy({
  type,
  rollingUpdate,
  ...flat
}: V1beta1CloneSetUpdateStrategy): V1beta1CloneSetUpdateStrategy {
  const rolling: RollingUpdateCloneSetStrategy = { ...rollingUpdate, ...flat }
  if (type && podUpdatePolicies.includes(type))
    return { type: 'RollingUpdate', rollingUpdate: withoutZeroes({ ...rolling, podUpdatePolicy: type }) }
  return { type: type || 'RollingUpdate', rollingUpdate: withoutZeroes(rolling) }
}

function withoutZeroes({
  paused,
  scatterStrategy,
  ...rolling
}: RollingUpdateCloneSetStrategy): RollingUpdateCloneSetStrategy {
  return { ...rolling, ...(paused ? { paused } : {}), ...(scatterStrategy?.length ? { scatterStrategy } : {}) }
}
