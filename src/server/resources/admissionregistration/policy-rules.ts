import { semanticEqual } from '../../../api/deep-equal.ts'
import type { MatchResources, ParamKind, ParamRef, Variable } from '../../../api/generated/types.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { isDns1035Label, isDns1123Subdomain, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import type { Column, Resource } from '../../registry/resource.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { PolicyExpressions } from './expression-rules.ts'
import { validateMatchResources, validateParamRef } from './match-rules.ts'

export const specPath = Path.of('spec')

/** Validates the kind of a policy's parameters. */
export function validateParamKind({ apiVersion = '', kind = '' }: ParamKind, path: Path): FieldError[] {
  const kindPath = path.child('kind')
  const kindProblems = isDns1035Label(kind.toLowerCase())
  const mixedCase = `may have mixed case, but should otherwise match: ${kindProblems.join(',')}`
  return [
    ...validateApiVersion(apiVersion, path.child('apiVersion')),
    ...(kind === '' ? [required(kindPath)] : kindProblems.length ? [invalid(kindPath, kind, mixedCase)] : []),
  ]
}

function validateApiVersion(text: string, path: Path): FieldError[] {
  if (text === '') return [required(path)]
  const parts = text.split('/')
  if (parts.length > 2) return [invalid(path, text, `unexpected GroupVersion string: ${text}`)]
  const [version = '', group = ''] = parts.toReversed()
  const groupProblems = group === '' ? [] : isDns1123Subdomain(group)
  const versionProblems = isDns1035Label(version)
  return [
    ...(groupProblems.length ? [invalid(path, group, groupProblems.join(','))] : []),
    ...(version === '' ? [invalid(path, text, 'version must be specified')] : []),
    ...(version !== '' && versionProblems.length ? [invalid(path, version, versionProblems.join(','))] : []),
  ]
}

const reservedWords = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
)

const isIdentifier = (name: string) => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reservedWords.has(name)

/** Validates and compiles variables. Each may use the ones before it. */
export function validateVariables(
  variables: readonly Variable[] | undefined,
  expressions: PolicyExpressions,
): FieldError[] {
  const list = variables ?? []
  if (list.length === 0) return []
  const pathOf = (i: number) => specPath.child('variables').index(i)
  const compiled = expressions.variables((i) => pathOf(i).child('expression'))
  return list.flatMap(({ name }, i) => {
    const namePath = pathOf(i).child('name')
    const nameErrors = isIdentifier(name) ? [] : [invalid(namePath, name, 'name is not a valid CEL identifier')]
    return [...(name.trim() === '' ? [required(namePath, 'name is not specified')] : nameErrors), ...compiled[i]!]
  })
}

/** Validates match constraints, which need at least one resource rule. */
export function validateConstraints(constraints: MatchResources | undefined): FieldError[] {
  const path = specPath.child('matchConstraints')
  if (!constraints) return [required(path)]
  const hasRules = Boolean(constraints.resourceRules?.length)
  return [...validateMatchResources(constraints, path), ...(hasRules ? [] : [required(path.child('resourceRules'))])]
}

interface BindingSpec {
  policyName?: string
  paramRef?: ParamRef
  matchResources?: MatchResources
}

/** Validates a binding: policy name, parameters and match resources. */
export function validateBinding({ policyName = '', paramRef, matchResources }: BindingSpec): FieldError[] {
  const path = specPath.child('policyName')
  const problems = isDns1123Subdomain(policyName).map((problem) => invalid(path, policyName, problem))
  return [
    ...(policyName === '' ? [required(path)] : problems),
    ...validateParamRef(paramRef, specPath.child('paramRef')),
    // As in Kubernetes, the path is misspelt.
    ...validateMatchResources(matchResources, specPath.child('matchResouces')),
  ]
}

/** Rules that all kinds of policies and bindings share. */
export const policyRules = {
  nameRule: subdomainName,
  generation: {
    changed: (object: KubeObject, old: KubeObject) =>
      !semanticEqual((object as { spec?: unknown }).spec, (old as { spec?: unknown }).spec),
  },
  allowUnconditionalUpdate: false,
} satisfies Partial<Resource>

interface Policy extends KubeObject {
  spec: { paramKind?: ParamKind }
}

/** The columns of a kind of policies. */
export const policyColumns = <T extends Policy>(name: string, description: string, count: (policy: T) => number) => [
  nameColumn<T>(),
  { name, type: 'integer', description, cell: count } satisfies Column<T>,
  {
    name: 'ParamKind',
    type: 'string',
    description: 'ParamKind specifies the kind of resources used to parameterize this policy',
    cell: ({ spec: { paramKind } }) =>
      paramKind ? `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}` : '<unset>',
  } satisfies Column<T>,
  ageColumn<T>(),
]

/** Formats a selector as Go does. */
function selectorText({ selector }: ParamRef): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const map = labels.map(([key, value]) => `${key}: ${value},`).join('')
  const requirements = (selector?.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  const expressions = `[]LabelSelectorRequirement{${requirements.join('')}}`
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:${expressions},}`
}

function paramText(ref: ParamRef | undefined): string {
  if (!ref) return '<unset>'
  if (ref.name) return `${ref.namespace || '*'}/${ref.name}`
  return ref.selector ? selectorText(ref) : '<unset>'
}

interface Binding extends KubeObject {
  spec: BindingSpec
}

/** The columns of a kind of bindings. */
export const bindingColumns: readonly Column<Binding>[] = [
  nameColumn(),
  {
    name: 'PolicyName',
    type: 'string',
    description: 'PolicyName indicates the policy definition which the policy binding binded to',
    cell: ({ spec }) => spec.policyName ?? '',
  },
  {
    name: 'ParamRef',
    type: 'string',
    description: 'ParamRef indicates the param resource which sets the configration param',
    cell: ({ spec }) => paramText(spec.paramRef),
  },
  ageColumn(),
]
