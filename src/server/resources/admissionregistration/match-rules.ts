import type {
  LabelSelector,
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
  ParamRef,
  RuleWithOperations,
} from '../../../api/generated/types.ts'
import { validateLabelSelector } from '../../../api/selectors/label-selector.ts'
import { notSupportedInOrder, repeatedPlaces } from '../../../api/validation/field-checks.ts'
import {
  type FieldError,
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../api/validation/field-error.ts'
import { isPathSegment, isQualifiedName } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'
import { validateCondition } from './expression-rules.ts'

export const failurePolicies = ['Fail', 'Ignore']
export const matchPolicies = ['Equivalent', 'Exact']
export const reinvocationPolicies = ['IfNeeded', 'Never']
const scopes = ['*', 'Cluster', 'Namespaced']
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const maxMatchConditions = 64

/** Applies defaults to the rules of a webhook or policy. */
export function defaultRules(rules: readonly { scope?: string }[] | undefined): void {
  for (const rule of rules ?? []) rule.scope ??= '*'
}

/** Applies defaults to the match resources of a policy or binding. */
export function defaultMatchResources(match: MatchResources | undefined): void {
  if (!match) return
  match.matchPolicy ??= 'Equivalent'
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
  defaultRules(match.resourceRules)
  defaultRules(match.excludeResourceRules)
}

/** Validates an optional enum value. */
export const validateChoice = (value: string | undefined, allowed: readonly string[], path: Path): FieldError[] =>
  value === undefined || allowed.includes(value) ? [] : [notSupported(path, value, allowed)]

type Choice = (value: string | undefined, allowed: readonly string[], path: Path) => FieldError[]

/** Validates a required enum value. */
export const validateRequiredChoice: Choice = (value, allowed, path) =>
  value === undefined ? [required(path)] : validateChoice(value, allowed, path)

const aloneIfWildcard = (list: readonly string[], path: Path, what: string): FieldError[] =>
  list.length > 1 && list.includes('*')
    ? [invalid(path, list, `if '*' is present, must not specify other ${what}`)]
    : []

/**
 * Validates resources such as `pods`, `pods/log`, `*` and `pods/*`. A wildcard must not stand next to an entry that it
 * covers.
 */
function validateResources(resources: readonly string[], path: Path): FieldError[] {
  if (resources.length === 0) return [required(path)]
  const errors: FieldError[] = []
  const withAnySubresource = new Set<string>()
  const ofAnyResource = new Set<string>()
  let hasPlain = false
  for (const [i, text] of resources.entries()) {
    const at = text.indexOf('/')
    if (text === '') errors.push(required(path.index(i)))
    // As in Kubernetes, the last entry without a subresource decides.
    else if (at < 0) hasPlain = text !== '*'
    if (at < 0) continue
    const [resource, subresource] = [text.slice(0, at), text.slice(at + 1)]
    const present = (pattern: string) =>
      invalid(path.index(i), text, `if '${pattern}' is present, must not specify ${text}`)
    if (withAnySubresource.has(resource)) errors.push(present(`${resource}/*`))
    if (ofAnyResource.has(subresource)) errors.push(present(`*/${subresource}`))
    if (subresource === '*') withAnySubresource.add(resource)
    if (resource === '*') ofAnyResource.add(subresource)
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
  }
  if (hasPlain && resources.includes('*')) {
    errors.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"))
  }
  return errors
}

/** Validates the operations and resources of a rule. */
export function validateRule(rule: RuleWithOperations, path: Path): FieldError[] {
  const { operations: listed = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule
  const [operationsPath, groupsPath, versionsPath] = ['operations', 'apiGroups', 'apiVersions'].map((n) =>
    path.child(n),
  )
  return [
    ...(listed.length ? [] : [required(operationsPath!)]),
    ...aloneIfWildcard(listed, operationsPath!, 'operations'),
    ...listed.flatMap((operation, i) => validateChoice(operation, operations, operationsPath!.index(i))),
    ...(apiGroups.length ? [] : [required(groupsPath!)]),
    ...aloneIfWildcard(apiGroups, groupsPath!, 'API groups'),
    ...(apiVersions.length ? [] : [required(versionsPath!)]),
    ...aloneIfWildcard(apiVersions, versionsPath!, 'API versions'),
    ...apiVersions.flatMap((version, i) => (version === '' ? [required(versionsPath!.index(i))] : [])),
    ...validateResources(resources, path.child('resources')),
    ...validateChoice(scope, scopes, path.child('scope')),
  ]
}

function validateNamedRule(rule: NamedRuleWithOperations, path: Path): FieldError[] {
  const names = rule.resourceNames ?? []
  const namesPath = path.child('resourceNames')
  const repeated = repeatedPlaces(names)
  return [
    ...names.flatMap((name, i) => [
      ...isPathSegment(name, false).map((problem) => invalid(namesPath.index(i), name, problem)),
      ...(repeated.has(i) ? [duplicate(namesPath.index(i), name)] : []),
    ]),
    ...validateRule(rule, path),
  ]
}

const validateRequiredSelector = (selector: LabelSelector | undefined, path: Path): FieldError[] =>
  selector ? validateLabelSelector(selector, path) : [required(path)]

/** Validates optional match resources. */
export function validateMatchResources(match: MatchResources | undefined, path: Path): FieldError[] {
  if (!match) return []
  const rules = (list: readonly NamedRuleWithOperations[] | undefined, name: string) =>
    (list ?? []).flatMap((rule, i) => validateNamedRule(rule, path.child(name).index(i)))
  return [
    ...validateRequiredChoice(match.matchPolicy, matchPolicies, path.child('matchPolicy')),
    ...validateRequiredSelector(match.namespaceSelector, path.child('namespaceSelector')),
    ...validateRequiredSelector(match.objectSelector, path.child('objectSelector')),
    ...rules(match.resourceRules, 'resourceRules'),
    ...rules(match.excludeResourceRules, 'excludeResourceRules'),
  ]
}

/** Validates match conditions and compiles their expressions. */
export function validateMatchConditions(
  conditions: readonly MatchCondition[] | undefined,
  path: Path,
  hasParams = false,
): FieldError[] {
  const list = conditions ?? []
  const names = list.map(({ name }) => name)
  const repeated = repeatedPlaces(names)
  return [
    ...(list.length > maxMatchConditions ? [tooMany(path, list.length, maxMatchConditions)] : []),
    ...list.flatMap(({ name, expression }, i) => {
      const namePath = path.index(i).child('name')
      return [
        ...validateCondition(expression, hasParams, path.index(i).child('expression')),
        ...(name === ''
          ? [required(namePath)]
          : isQualifiedName(name).map((problem) => invalid(namePath, name, problem))),
        ...(name !== '' && repeated.has(i) ? [duplicate(namePath, name)] : []),
      ]
    }),
  ]
}

const notFoundActions = ['Deny', 'Allow']
const bothMessage = 'name and selector are mutually exclusive'

/** Validates an optional paramRef. */
export function validateParamRef(ref: ParamRef | undefined, path: Path): FieldError[] {
  if (!ref) return []
  const { name = '', selector, parameterNotFoundAction: action = '' } = ref
  const actionPath = path.child('parameterNotFoundAction')
  const isBoth = name !== '' && selector !== undefined
  const actionError = action === '' ? required(actionPath) : notSupportedInOrder(actionPath, action, notFoundActions)
  return [
    ...(name === '' ? [] : isPathSegment(name, false).map((problem) => invalid(path.child('name'), name, problem))),
    ...(isBoth ? [forbidden(path.child('name'), bothMessage)] : []),
    ...(selector ? validateLabelSelector(selector, path.child('selector')) : []),
    ...(isBoth ? [forbidden(path.child('selector'), bothMessage)] : []),
    ...(name === '' && !selector ? [required(path, 'one of name or selector must be specified')] : []),
    ...(notFoundActions.includes(action) ? [] : [actionError]),
  ]
}
