import {
  type CelType,
  type JsonSchema,
  admissionEnvironment,
  builtInCelType,
  compileAdmission,
  compileVariables,
  customCelType,
} from '../../../api/cel/index.ts'
import type { ExpressionWarning, ValidatingAdmissionPolicy } from '../../../api/generated/types.ts'
import type { Registered, Registry } from '../../registry/registry.ts'
import { kindText } from './params.ts'

/** Maximum number of types checked for one rule. */
const maxTypes = 10

const typeOf = ({ type, resource }: Registered): CelType | undefined =>
  type.isCustom ? customCelType((type.schema ?? {}) as JsonSchema, resource.kind) : builtInCelType(type.name)

const hasWildcard = (list: readonly string[]) => list.some((text) => text.includes('*'))

/** The kinds that a policy names. Rules with wildcards or subresources are not checked. */
function kindsOf({ spec }: ValidatingAdmissionPolicy, registry: Registry): Registered[] {
  const found = new Set<Registered>()
  for (const { apiGroups = [], apiVersions = [], resources = [] } of spec.matchConstraints?.resourceRules ?? []) {
    if (hasWildcard(apiGroups) || hasWildcard(apiVersions)) continue
    const plain = resources.filter((resource) => !/[*/]/.test(resource)).toSorted()
    const versions = apiGroups
      .toSorted()
      .flatMap((group) => apiVersions.toSorted().map((version) => (group ? `${group}/${version}` : version)))
    const kinds = versions.flatMap((apiVersion) => plain.flatMap((plural) => registry.find(apiVersion, plural) ?? []))
    for (const kind of kinds.slice(0, maxTypes)) found.add(kind)
  }
  const keyOf = ({ resource: { group, version, kind } }: Registered) => [group, version, kind].join('\0')
  return [...found].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** The type of the parameters; undefined if it is unknown. */
function paramsType({ spec: { paramKind } }: ValidatingAdmissionPolicy, registry: Registry): CelType | undefined {
  const target =
    paramKind && registry.all().find((r) => r.apiVersion === paramKind.apiVersion && r.resource.kind === paramKind.kind)
  return target && typeOf(target)
}

/**
 * Type-checks the validations and messages of a policy against the schemas of the kinds that it names. The warnings are
 * for authors only: evaluation is untyped, because one expression may apply to several kinds.
 */
export function typeWarnings(policy: ValidatingAdmissionPolicy, registry: Registry): ExpressionWarning[] {
  const params = paramsType(policy, registry)
  const checked = kindsOf(policy, registry).flatMap((kind) => {
    const object = typeOf(kind)
    if (!object) return []
    const base = admissionEnvironment({ hasAuthorizer: true, object, ...(params ? { hasParams: true, params } : {}) })
    const { environment } = compileVariables(policy.spec.variables ?? [], base)
    return [{ name: kindText(kind.apiVersion, kind.resource.kind), environment }]
  })
  const warningsOf = (expression: string, fieldRef: string): ExpressionWarning[] => {
    const messages = checked.flatMap(({ name, environment }) => {
      const { error } = compileAdmission(expression, environment, [])
      return error === undefined ? [] : [`${name}: ${error.replace(/^compilation failed: /, '')}\n`]
    })
    return messages.length ? [{ fieldRef, warning: messages.join('\n') }] : []
  }
  return (policy.spec.validations ?? []).flatMap(({ expression, messageExpression }, i) => [
    ...warningsOf(expression, `spec.validations[${i}].expression`),
    ...(messageExpression ? warningsOf(messageExpression, `spec.validations[${i}].messageExpression`) : []),
  ])
}
