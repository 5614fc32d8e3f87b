import { kindNames } from '../../../api/kind-names.ts'
import { semanticEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { DaemonSet, DaemonSetSpec, DaemonSetUpdateStrategy } from '../../../api/generated/types.ts'
import { isNotMoreThan100Percent, validateNonnegativeIntOrPercent } from '../../../api/numbers/int-or-string.ts'
import { type Int64, addInt64, maxInt64Of, parseInt64 } from '../../../api/numbers/int64.ts'
import { defaultPodTemplate, podTemplateWarnings } from '../../../api/kinds/pods/pod-template.ts'
import { labelSelectorMatches, validateLabelSelector } from '../../../api/selectors/label-selector.ts'
import { validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, type RuleContext, defineResource } from '../../registry/resource.ts'
import { dropDeadline, validateDeadline } from './progress-deadline.ts'
import { containerColumns, countColumn, labelsText, selectorColumn } from './workload-columns.ts'
import {
  ensureTemplate,
  isEmptySelector,
  isUsableSelector,
  labelsMismatch,
  plainValue,
  selectorAsGo,
  unsupported,
  validateCollisionCount,
  validateCounts,
  validateLongRunningTemplate,
  validateSelectorUnchanged,
} from './workload-rules.ts'
import { badRequest } from '../../../api/errors.ts'
import { templateGenerationAnnotation } from '../../../api/kinds/workloads/controller-revision.ts'
import { noDeadline } from '../../../api/kinds/workloads/rollout-clock.ts'

const specPath = Path.of('spec')
const statusPath = Path.of('status')
const templatePath = specPath.child('template')

function applyDefaults(obj: DaemonSet, ctx: RuleContext): void {
  checkTemplateGeneration(obj)
  const spec = (obj.spec ??= {} as DaemonSetSpec)
  defaultPodTemplate(ensureTemplate(spec))
  const strategy: DaemonSetUpdateStrategy = (spec.updateStrategy ??= {})
  strategy.type ||= 'RollingUpdate'
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {}
    strategy.rollingUpdate.maxUnavailable ??= 1
  }
  if (strategy.rollingUpdate) {
    // Other strategies ignore these fields, which Kubernetes returns as 0.
    strategy.rollingUpdate.maxUnavailable ??= 0
    strategy.rollingUpdate.maxSurge ??= 0
  }
  spec.revisionHistoryLimit ??= 10
  if (ctx.gates.enabled('DaemonSetConditions')) spec.progressDeadlineSeconds ??= noDeadline
}

function validateStrategy(strategy: DaemonSetUpdateStrategy, path: Path): FieldError[] {
  const { type, rollingUpdate } = strategy
  if (type === 'OnDelete') return []
  if (type !== 'RollingUpdate') {
    const rolling = rollingUpdate
      ? { MaxUnavailable: rollingUpdate.maxUnavailable ?? 0, MaxSurge: rollingUpdate.maxSurge ?? 0 }
      : null
    return [unsupported(path, { Type: type, RollingUpdate: rolling }, ['RollingUpdate', 'OnDelete'])]
  }
  const at = path.child('rollingUpdate')
  if (!rollingUpdate) return [required(at)]
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate
  const errors = [
    ...validateNonnegativeIntOrPercent(maxUnavailable, at.child('maxUnavailable')),
    ...validateNonnegativeIntOrPercent(maxSurge, at.child('maxSurge')),
    ...isNotMoreThan100Percent(maxUnavailable, at.child('maxUnavailable')),
    ...isNotMoreThan100Percent(maxSurge, at.child('maxSurge')),
  ]
  const hasUnavailable = plainValue(maxUnavailable) !== 0
  const hasSurge = plainValue(maxSurge) !== 0
  if (hasUnavailable && hasSurge)
    errors.push(invalid(at.child('maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero'))
  if (!hasUnavailable && !hasSurge) errors.push(required(at.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0'))
  return errors
}

function validateSpec(spec: DaemonSetSpec, old?: DaemonSetSpec): FieldError[] {
  const selectorPath = specPath.child('selector')
  const errors = validateLabelSelector(spec.selector, selectorPath)
  if (
    isUsableSelector(spec.selector, selectorPath) &&
    !labelSelectorMatches(spec.selector, spec.template.metadata?.labels)
  ) {
    errors.push(labelsMismatch(spec.template, templatePath))
  }
  if (spec.selector && isEmptySelector(spec.selector))
    errors.push(invalid(selectorPath, selectorAsGo(spec.selector), 'empty selector is invalid for daemonset'))
  return [
    ...errors,
    ...validateLongRunningTemplate(spec.template, templatePath, 'DaemonSet', old?.template),
    ...validateNonnegative(spec.minReadySeconds, specPath.child('minReadySeconds')),
    ...validateStrategy(spec.updateStrategy ?? {}, specPath.child('updateStrategy')),
    ...validateNonnegative(spec.revisionHistoryLimit, specPath.child('revisionHistoryLimit')),
    ...validateDeadline(spec, specPath),
  ]
}

function validateStatus(obj: DaemonSet, old: DaemonSet): FieldError[] {
  const status: Partial<NonNullable<DaemonSet['status']>> = obj.status ?? {}
  return [
    ...validateCounts(
      status,
      [
        'currentNumberScheduled',
        'numberMisscheduled',
        'desiredNumberScheduled',
        'numberReady',
        'observedGeneration',
        'updatedNumberScheduled',
        'numberAvailable',
        'numberUnavailable',
        'collisionCount',
      ],
      statusPath,
    ),
    ...validateCollisionCount(status, old.status, statusPath),
  ]
}

const columns: Column<DaemonSet>[] = [
  nameColumn(),
  countColumn('Desired', 'DaemonSetStatus', 'desiredNumberScheduled', (obj) => obj.status?.desiredNumberScheduled),
  countColumn('Current', 'DaemonSetStatus', 'currentNumberScheduled', (obj) => obj.status?.currentNumberScheduled),
  countColumn('Ready', 'DaemonSetStatus', 'numberReady', (obj) => obj.status?.numberReady),
  countColumn('Up-to-date', 'DaemonSetStatus', 'updatedNumberScheduled', (obj) => obj.status?.updatedNumberScheduled),
  countColumn('Available', 'DaemonSetStatus', 'numberAvailable', (obj) => obj.status?.numberAvailable),
  {
    name: 'Node Selector',
    type: 'string',
    description: () => describeField('PodSpec', 'nodeSelector'),
    cell: (obj) => labelsText(obj.spec?.template.spec?.nodeSelector),
  },
  ageColumn(),
  ...containerColumns<DaemonSet>((obj) => obj.spec?.template),
  selectorColumn(
    "A label query over pods that are managed by the daemon set. Must match in order to be controlled. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
    (obj) => obj.spec?.selector,
  ),
]

/** apps/v1 DaemonSets. */
export const daemonsets = defineResource<DaemonSet>({
  ...kindNames.daemonsets,
  nameRule: subdomainName,
  generation: true,
  defaults: applyDefaults,
  prepareForCreate(obj, ctx) {
    dropDeadline(obj.spec!, undefined, ctx.gates.enabled('DaemonSetConditions'))
    setTemplateGeneration(obj, maxInt64Of([1, templateGenerationOf(obj)]))
  },
  validate: (obj) => validateSpec(obj.spec!),
  prepareForUpdate(obj, old, ctx) {
    dropDeadline(obj.spec!, old.spec, ctx.gates.enabled('DaemonSetConditions'))
    const isChanged = !semanticEqual(obj.spec!.template, old.spec!.template)
    setTemplateGeneration(obj, addInt64(templateGenerationOf(old), isChanged ? 1 : 0))
  },
  validateUpdate: (obj, old) => [
    ...validateSelectorUnchanged(obj.spec!.selector, old.spec!.selector, specPath.child('selector')),
    ...validateSpec(obj.spec!, old.spec),
  ],
  warnings(obj, old) {
    if (!old) return podTemplateWarnings(obj.spec!.template, templatePath)
    if (obj.metadata.generation === old.metadata.generation) return []
    return podTemplateWarnings(obj.spec!.template, templatePath, old.spec!.template)
  },
  status: {
    prepare(obj, old) {
      obj.spec = old.spec
      setTemplateGeneration(obj, templateGenerationOf(old))
    },
    validate: validateStatus,
  },
  columns,
})

/** Rejects an invalid annotation while decoding. */
function checkTemplateGeneration(obj: DaemonSet): void {
  const text = obj.metadata.annotations?.[templateGenerationAnnotation]
  if (text === undefined) return
  const problem = parseProblem(text)
  if (problem) {
    throw badRequest(
      `DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing ${JSON.stringify(text)}: ${problem}`,
    )
  }
}

function parseProblem(text: string): string | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return 'invalid syntax'
  return parseInt64(text) === undefined ? 'value out of range' : undefined
}

const templateGenerationOf = (obj: DaemonSet): Int64 =>
  parseInt64(obj.metadata.annotations?.[templateGenerationAnnotation] ?? '') ?? 0

function setTemplateGeneration(obj: DaemonSet, generation: Int64): void {
  obj.metadata.annotations = { ...obj.metadata.annotations, [templateGenerationAnnotation]: String(generation) }
}
