import { kindNames } from '../../../api/kind-names.ts'
import type { StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy } from '../../../api/generated/types.ts'
import { defaultPodTemplate } from '../../../api/kinds/pods/pod-template.ts'
import { labelName } from '../../../api/validation/names.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type RuleContext, defineResource } from '../../registry/resource.ts'
import { defaultClaimTemplates } from './claim-templates.ts'
import { dropDeadline } from './progress-deadline.ts'
import {
  validateStatefulSetSpec,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from './statefulset-validation.ts'
import { statefulSetWarnings } from './statefulset-warnings.ts'
import { containerColumns, readyColumn } from './workload-columns.ts'
import { ensureTemplate, keepSpec, replicaScale } from './workload-rules.ts'
import { noDeadline } from '../../../api/kinds/workloads/rollout-clock.ts'

function defaultUpdateStrategy(strategy: StatefulSetUpdateStrategy, ctx: RuleContext): void {
  if (!strategy.type) {
    strategy.type = 'RollingUpdate'
    strategy.rollingUpdate ??= {}
  }
  if (strategy.type !== 'RollingUpdate' || !strategy.rollingUpdate) return
  strategy.rollingUpdate.partition ??= 0
  if (ctx.gates.enabled('MaxUnavailableStatefulSet')) strategy.rollingUpdate.maxUnavailable ??= 1
}

function applyDefaults(obj: StatefulSet, ctx: RuleContext): void {
  const spec = (obj.spec ??= {} as StatefulSetSpec)
  defaultPodTemplate(ensureTemplate(spec))
  spec.podManagementPolicy ||= 'OrderedReady'
  defaultUpdateStrategy((spec.updateStrategy ??= {}), ctx)
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {})
  retention.whenDeleted ||= 'Retain'
  retention.whenScaled ||= 'Retain'
  spec.replicas ??= 1
  spec.revisionHistoryLimit ??= 10
  defaultClaimTemplates(spec.volumeClaimTemplates)
  if (ctx.gates.enabled('StatefulSetConditions')) spec.progressDeadlineSeconds ??= noDeadline
}

/** With its feature gate off, a field is kept only if the stored object has it. */
function dropGatedFields(spec: StatefulSetSpec, old: StatefulSetSpec | undefined, ctx: RuleContext): void {
  dropDeadline(spec, old, ctx.gates.enabled('StatefulSetConditions'))
  const rolling = spec.updateStrategy?.rollingUpdate
  if (!rolling || ctx.gates.enabled('MaxUnavailableStatefulSet')) return
  if (old?.updateStrategy?.rollingUpdate?.maxUnavailable === undefined) delete rolling.maxUnavailable
}

/** apps/v1 StatefulSets. */
export const statefulsets = defineResource<StatefulSet>({
  ...kindNames.statefulsets,
  nameRule: labelName,
  generation: true,
  defaults: applyDefaults,
  prepareForCreate: (obj, ctx) => dropGatedFields(obj.spec!, undefined, ctx),
  validate: (obj) => validateStatefulSetSpec(obj.spec!),
  prepareForUpdate: (obj, old, ctx) => dropGatedFields(obj.spec!, old.spec, ctx),
  validateUpdate: validateStatefulSetUpdate,
  warnings: statefulSetWarnings,
  status: {
    prepare: keepSpec,
    validate: validateStatefulSetStatus,
  },
  scale: replicaScale((obj) => obj.spec?.selector),
  columns: [
    nameColumn(),
    readyColumn(
      (obj) => obj.status?.readyReplicas,
      (obj) => obj.spec?.replicas,
    ),
    ageColumn(),
    ...containerColumns<StatefulSet>((obj) => obj.spec?.template),
  ],
})
