import type {
  CloneSet,
  CloneSetSpec,
  RollingUpdateCloneSetStrategy,
  V1beta1CloneSet,
  V1beta1CloneSetScaleStrategy,
  V1beta1CloneSetSpec,
  V1beta1CloneSetUpdateStrategy,
} from '../../../api/generated/types.ts'
import { defaultPodTemplate } from '../../../api/kinds/pod-template.ts'
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

/** Fills in what the user left out of a v1alpha1 CloneSet. */
export function defaultCloneSet(obj: CloneSet): void {
  const spec = (obj.spec ??= {} as CloneSetSpec)
  spec.scaleStrategy ??= {}
  const strategy = (spec.updateStrategy ??= {})
  strategy.type ||= 'ReCreate'
  defaultShared(spec)
  defaultRolling(strategy, strategy.type)
}

/** Fills in what the user left out of a v1beta1 CloneSet, and puts what was said in v1alpha1's words into v1beta1's. */
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

/** v1beta1 never shows v1alpha1's fields: where they are, the writer has put them there, and they are what he wants. */
function translateStrategy({ type, rollingUpdate, ...flat }: V1beta1CloneSetUpdateStrategy): V1beta1CloneSetUpdateStrategy {
  const rolling: RollingUpdateCloneSetStrategy = { ...rollingUpdate, ...flat }
  if (type && podUpdatePolicies.includes(type)) return { type: 'RollingUpdate', rollingUpdate: withoutZeroes({ ...rolling, podUpdatePolicy: type }) }
  return { type: type || 'RollingUpdate', rollingUpdate: withoutZeroes(rolling) }
}

function withoutZeroes({ paused, scatterStrategy, ...rolling }: RollingUpdateCloneSetStrategy): RollingUpdateCloneSetStrategy {
  return { ...rolling, ...(paused ? { paused } : {}), ...(scatterStrategy?.length ? { scatterStrategy } : {}) }
}
