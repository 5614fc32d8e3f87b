import { type KindNames, kindNames } from '../../../api/kind-names.ts'
import { deepEqual } from '../../../api/deep-equal.ts'
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../../api/generated/types.ts'
import { validateLabelSelector } from '../../../api/selectors/label-selector.ts'
import { type FieldError, duplicate, invalid, notSupported, required } from '../../../api/validation/field-error.ts'
import { isDns1035Label, isDns1123Subdomain, subdomainName } from '../../../api/validation/names.ts'
import { repeatedPlaces } from '../../../api/validation/field-checks.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, type Resource, defineResource } from '../../registry/resource.ts'
import { validateClientConfig } from './client-config.ts'
import {
  defaultRules,
  failurePolicies,
  matchPolicies,
  reinvocationPolicies,
  validateChoice,
  validateMatchConditions,
  validateRule,
} from './match-rules.ts'

type Webhook = ValidatingWebhook & MutatingWebhook
type Configuration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration

const reviewVersions = ['v1', 'v1beta1']
const allSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown']
const noSideEffects = ['None', 'NoneOnDryRun']

/** Rules that do not apply to an update if the stored object violates them already. */
interface Tolerance {
  sideEffects: boolean
  reviewVersions: boolean
  sameNames: boolean
  labelValues: boolean
  /** True if the match conditions are unchanged. */
  matchConditions: boolean
}

const strict: Tolerance = {
  sideEffects: false,
  reviewVersions: false,
  sameNames: false,
  labelValues: false,
  matchConditions: false,
}

const hooksOf = (configuration: Configuration) => (configuration.webhooks ?? []) as Webhook[]
const isAccepted = ({ admissionReviewVersions: versions }: Webhook) =>
  !versions?.length || versions.some((version) => reviewVersions.includes(version))

function toleranceOf(hooks: readonly Webhook[], old: readonly Webhook[]): Tolerance {
  const nowhere = Path.of('selector')
  const selectors = old.flatMap((hook) => [hook.namespaceSelector, hook.objectSelector])
  return {
    sideEffects: old.some(({ sideEffects }) => !noSideEffects.includes(sideEffects ?? '')),
    reviewVersions: !old.every(isAccepted),
    sameNames: new Set(old.map(({ name }) => name)).size < old.length,
    labelValues: selectors.some((selector) => validateLabelSelector(selector, nowhere).length > 0),
    matchConditions:
      hooks.length === old.length && old.every((hook, i) => deepEqual(hook.matchConditions, hooks[i]!.matchConditions)),
  }
}

/** Validates a webhook's name, such as `policy.example.com`. */
function validateHookName(name: string, path: Path): FieldError[] {
  if (name === '') return [required(path)]
  const problems = isDns1123Subdomain(name)
  if (problems.length) return [invalid(path, name, problems.join(','))]
  if (name.split('.').length >= 3) return []
  return [invalid(path, name, 'should be a domain with at least three segments separated by dots')]
}

function validateReviewVersions(versions: readonly string[], tolerates: boolean, path: Path): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${reviewVersions.join(', ')}`)]
  const repeated = repeatedPlaces(versions)
  const isKnown = tolerates || versions.some((version) => reviewVersions.includes(version))
  return [
    ...versions.flatMap((version, i) => {
      if (repeated.has(i)) return [invalid(path.index(i), version, 'duplicate version')]
      return isDns1035Label(version).map((problem) => invalid(path.index(i), version, problem))
    }),
    ...(isKnown ? [] : [invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`)]),
  ]
}

function validateSideEffects(value: string | null | undefined, tolerates: boolean, path: Path): FieldError[] {
  const allowed = tolerates ? allSideEffects : noSideEffects
  if (value === undefined || value === null) return [required(path, `must specify one of ${allowed.join(', ')}`)]
  return allowed.includes(value) ? [] : [notSupported(path, value, allowed)]
}

function validateTimeout(seconds: number | undefined, path: Path): FieldError[] {
  const isFine = seconds === undefined || (seconds >= 1 && seconds <= 30)
  return isFine ? [] : [invalid(path, seconds, 'the timeout value must be between 1 and 30 seconds')]
}

function validateHook(hook: Webhook, tolerates: Tolerance, path: Path): FieldError[] {
  const options = { allowInvalidLabelValueInSelector: tolerates.labelValues }
  return [
    ...validateHookName(hook.name, path.child('name')),
    ...(hook.rules ?? []).flatMap((rule, i) => validateRule(rule, path.child('rules').index(i))),
    ...validateChoice(hook.failurePolicy, failurePolicies, path.child('failurePolicy')),
    ...validateChoice(hook.matchPolicy, matchPolicies, path.child('matchPolicy')),
    ...validateSideEffects(hook.sideEffects, tolerates.sideEffects, path.child('sideEffects')),
    ...validateTimeout(hook.timeoutSeconds, path.child('timeoutSeconds')),
    ...validateLabelSelector(hook.namespaceSelector, path.child('namespaceSelector'), options),
    ...validateLabelSelector(hook.objectSelector, path.child('objectSelector'), options),
    ...validateChoice(hook.reinvocationPolicy, reinvocationPolicies, path.child('reinvocationPolicy')),
    ...validateClientConfig(hook.clientConfig, path.child('clientConfig')),
    ...(tolerates.matchConditions ? [] : validateMatchConditions(hook.matchConditions, path.child('matchConditions'))),
    ...validateReviewVersions(
      hook.admissionReviewVersions ?? [],
      tolerates.reviewVersions,
      path.child('admissionReviewVersions'),
    ),
  ]
}

function validateHooks(hooks: readonly Webhook[], tolerates: Tolerance): FieldError[] {
  const path = Path.of('webhooks')
  const again = repeatedPlaces(hooks.map(({ name }) => name))
  return hooks.flatMap((hook, i) => {
    const isRepeated = !tolerates.sameNames && hook.name !== '' && again.has(i)
    const repeated = isRepeated ? [duplicate(path.index(i).child('name'), hook.name)] : []
    return [...validateHook(hook, tolerates, path.index(i)), ...repeated]
  })
}

function defaultHook(hook: Webhook, isMutating: boolean): void {
  hook.failurePolicy ??= 'Fail'
  hook.matchPolicy ??= 'Equivalent'
  hook.namespaceSelector ??= {}
  hook.objectSelector ??= {}
  hook.timeoutSeconds ??= 10
  if (isMutating) hook.reinvocationPolicy ??= 'Never'
  defaultRules(hook.rules)
  if (hook.clientConfig.service) hook.clientConfig.service.port ??= 443
}

const columns: Column<Configuration>[] = [
  nameColumn(),
  {
    name: 'Webhooks',
    type: 'integer',
    description: 'Webhooks indicates the number of webhooks registered in this configuration',
    cell: (configuration) => hooksOf(configuration).length,
  },
  ageColumn(),
]

const webhookConfigurations = (names: KindNames, isMutating: boolean): Resource =>
  defineResource<Configuration>({
    ...names,
    nameRule: subdomainName,
    generation: { changed: (configuration, old) => !deepEqual(configuration.webhooks, old.webhooks) },
    allowUnconditionalUpdate: false,
    defaults: (configuration) => hooksOf(configuration).forEach((hook) => defaultHook(hook, isMutating)),
    validate: (configuration) => validateHooks(hooksOf(configuration), strict),
    validateUpdate(configuration, old) {
      const hooks = hooksOf(configuration)
      return validateHooks(hooks, toleranceOf(hooks, hooksOf(old)))
    },
    columns,
  })

export const validatingwebhookconfigurations = webhookConfigurations(kindNames.validatingwebhookconfigurations, false)

export const mutatingwebhookconfigurations = webhookConfigurations(kindNames.mutatingwebhookconfigurations, true)
