import { kindNames } from '../../../api/kind-names.ts'
import type {
  ResourceQuota,
  ResourceQuotaSpec,
  ScopeSelector,
  ScopedResourceSelectorRequirement,
} from '../../../api/generated/types.ts'
import {
  isQuotaScope,
  isScopeForResource,
  isStandardQuotaResource,
  validateQuotaAmounts,
} from '../../../api/kinds/quantities/quota-resources.ts'
import { roundResourcesUpToMilli } from '../../../api/kinds/quantities/resource-names.ts'
import { immutableMessage } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const specPath = Path.of('spec')
const statusPath = Path.of('status')
const scopesPath = specPath.child('scopes')

const exclusiveScopes = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

/** Returns an error for each resource of the quota to which the scope does not apply. */
function validateScopeResources(scope: string, spec: ResourceQuotaSpec, path: Path, value: unknown): FieldError[] {
  return Object.keys(spec.hard ?? {})
    .filter((name) => isStandardQuotaResource(name) && !isScopeForResource(scope, name))
    .map(() => invalid(path, value, 'unsupported scope applied to resource'))
}

function validateExclusive(scopes: readonly string[], path: Path, value: unknown): FieldError[] {
  return exclusiveScopes
    .filter((pair) => pair.every((scope) => scopes.includes(scope)))
    .map(() => invalid(path, value, 'conflicting scopes'))
}

function validateScopes(spec: ResourceQuotaSpec): FieldError[] {
  const scopes = spec.scopes ?? []
  return [
    ...scopes.flatMap((scope) => [
      ...(isQuotaScope(scope) ? [] : [invalid(scopesPath, scopes, 'unsupported scope')]),
      ...validateScopeResources(scope, spec, scopesPath, scopes),
    ]),
    ...validateExclusive(scopes, scopesPath, scopes),
  ]
}

const scopesThatExist = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']

function validateOperator(
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
  path: Path,
): FieldError[] {
  const errors: FieldError[] = []
  if (scopesThatExist.includes(scopeName) && operator !== 'Exists') {
    const why =
      "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, " +
      'ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity'
    errors.push(invalid(path.child('operator'), operator, why))
  }
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      errors.push(
        required(
          path.child('values'),
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        ),
      )
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length) {
      errors.push(
        invalid(
          path.child('values'),
          values,
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        ),
      )
    }
  } else {
    errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  }
  return errors
}

const internalRequirement = ({ scopeName, operator, values }: ScopedResourceSelectorRequirement) => ({
  ScopeName: scopeName,
  Operator: operator,
  Values: values ?? null,
})

const internalSelector = ({ matchExpressions }: ScopeSelector) => ({
  MatchExpressions: matchExpressions?.map(internalRequirement) ?? null,
})

function validateScopeSelector(spec: ResourceQuotaSpec): FieldError[] {
  if (!spec.scopeSelector) return []
  const path = specPath.child('scopeSelector', 'matchExpressions')
  const requirements = spec.scopeSelector.matchExpressions ?? []
  const value = internalSelector(spec.scopeSelector)
  return [
    ...requirements.flatMap((requirement) => [
      ...(isQuotaScope(requirement.scopeName)
        ? []
        : [invalid(path.child('scopeName'), requirement.scopeName, 'unsupported scope')]),
      ...validateScopeResources(requirement.scopeName, spec, path, value),
      ...validateOperator(requirement, path),
    ]),
    ...validateExclusive(
      requirements.map(({ scopeName }) => scopeName),
      path,
      spec.scopes ?? null,
    ),
  ]
}

const validate = ({ spec }: ResourceQuota): FieldError[] => [
  ...validateQuotaAmounts(spec.hard, specPath.child('hard')),
  ...validateScopes(spec),
  ...validateScopeSelector(spec),
]

function validateSameScopes(scopes: readonly string[], old: readonly string[]): FieldError[] {
  const [now, before] = [new Set(scopes), new Set(old)]
  const isSame = now.size === before.size && scopes.every((scope) => before.has(scope))
  return isSame ? [] : [invalid(scopesPath, scopes.length ? scopes : null, immutableMessage)]
}

/** Formats usage: `pods: 2/3, requests.cpu: 250m/1`, for limits or for all other resources. */
function usageText({ status: { hard = {}, used = {} } }: ResourceQuota, ofLimits: boolean): string {
  const names = Object.keys(hard).filter((name) => name.startsWith('limits.') === ofLimits)
  return names
    .sort()
    .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
    .join(', ')
}

/** core/v1 ResourceQuotas. */
export const resourcequotas = defineResource<ResourceQuota>({
  ...kindNames.resourcequotas,
  nameRule: subdomainName,
  deleteAnswersObject: true,
  defaults({ spec, status }) {
    roundResourcesUpToMilli(spec.hard)
    roundResourcesUpToMilli(status.hard)
    roundResourcesUpToMilli(status.used)
  },
  validate,
  validateUpdate: (quota, old) => [
    ...validate(quota),
    ...validateSameScopes(quota.spec.scopes ?? [], old.spec.scopes ?? []),
  ],
  status: {
    prepare(quota, old) {
      quota.spec = old.spec
    },
    validate: ({ status }) => [
      ...validateQuotaAmounts(status.hard, statusPath.child('hard')),
      ...validateQuotaAmounts(status.used, statusPath.child('used')),
    ],
  },
  columns: [
    nameColumn(),
    {
      name: 'Request',
      type: 'string',
      description: 'Request represents a minimum amount of cpu/memory that a container may consume.',
      cell: (quota) => usageText(quota, false),
    },
    {
      name: 'Limit',
      type: 'string',
      description:
        'Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.',
      cell: (quota) => usageText(quota, true),
    },
    ageColumn(),
  ],
})
