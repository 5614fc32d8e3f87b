import { goJson } from '../../json/index.ts'
import { type FieldError, forbidden, invalid, required } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'
import { type JsonSchema, type ValidationRule, schemaType } from '../schema/schema-types.ts'
import type { CelType } from '../types.ts'
import { TotalCost, costMessage, ruleCostLimit } from './cost-limits.ts'
import { fieldPathProblem } from './field-path.ts'
import { type CompiledRule, type RuleProblem, compileRule, maxCardinality, rulesOf } from './rules.ts'

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** The form of a rule in Kubernetes' error messages. */
const shown = (rule: ValidationRule) => ({
  Rule: rule.rule,
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
})

/** The position in a schema, with facts about the schemas above it. */
interface Place {
  path: Path
  /** The product of the limits of all enclosing lists and maps. Undefined if one of them has no limit. */
  cardinality: number | undefined
  /** The first enclosing list whose items cannot be correlated with the old version. */
  uncorrelatable: string | undefined
  isResourceRoot: boolean
}

const hasLineBreak = /[\n\r]/

function textErrors(rule: ValidationRule, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const { message, messageExpression } = rule
  if (message !== undefined && message !== '' && message.trim() === '') {
    errors.push(invalid(path.child('message'), message, 'must be non-empty if specified'))
  } else if (message?.trim() && hasLineBreak.test(message.trim())) {
    errors.push(invalid(path.child('message'), message, 'must not contain line breaks'))
  } else if (hasLineBreak.test(rule.rule.trim()) && !message?.trim()) {
    errors.push(required(path.child('message'), 'message must be specified if rule contains line breaks'))
  }
  if (messageExpression && messageExpression.trim() === '') {
    errors.push(required(path.child('messageExpression'), 'must be non-empty if specified'))
  }
  return errors
}

function pathProblem(text: string, schema: JsonSchema): string | undefined {
  if (text.trim() === '') return 'must be non-empty if specified'
  if (hasLineBreak.test(text.trim())) return 'must not contain line breaks'
  const problem = fieldPathProblem(text.trim(), schema)
  return problem === undefined ? undefined : `fieldPath must be a valid path: ${problem}`
}

function pathAndReasonErrors(rule: ValidationRule, schema: JsonSchema, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    errors.push({
      reason: 'FieldValueNotSupported',
      field: path.child('reason').toString(),
      message: `Unsupported value: ${JSON.stringify(rule.reason)}: supported values: ${reasons.map((reason) => JSON.stringify(reason)).join(', ')}`,
    })
  }
  const problem = rule.fieldPath ? pathProblem(rule.fieldPath, schema) : undefined
  if (problem !== undefined) errors.push(invalid(path.child('fieldPath'), rule.fieldPath, problem))
  return errors
}

function problemError(path: Path, rule: ValidationRule, problem: RuleProblem): FieldError {
  if (problem.kind === 'required') return required(path, problem.detail)
  return {
    reason: 'FieldValueInvalid',
    field: path.toString(),
    message: `Invalid value: ${goJson(shown(rule))}: ${problem.detail}`,
  }
}

function oldSelfErrors(compiled: CompiledRule, path: Path, uncorrelatable: string | undefined): FieldError[] {
  const { rule, usesOldSelf } = compiled
  if (!usesOldSelf) {
    if (rule.optionalOldSelf === undefined) return []
    return [
      invalid(path.child('optionalOldSelf'), rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
    ]
  }
  if (uncorrelatable === undefined) return []
  return [
    invalid(
      path.child('rule'),
      rule.rule,
      `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`,
    ),
  ]
}

function compiledErrors(
  compiled: CompiledRule,
  type: CelType,
  place: Place,
  path: Path,
  total: TotalCost,
): FieldError[] {
  const { rule } = compiled
  const errors: FieldError[] = []
  const cost = Math.min(2 ** 64, compiled.maxCost * (place.cardinality ?? maxCardinality(type)))
  const [rulePath, messagePath] = [path.child('rule'), path.child('messageExpression')]
  if (cost > ruleCostLimit) errors.push(forbidden(rulePath, costMessage('estimated rule cost', cost, ruleCostLimit)))
  total.add(rulePath, cost)
  if (compiled.problem) errors.push(problemError(rulePath, rule, compiled.problem))
  if (compiled.messageProblem) errors.push(problemError(messagePath, rule, compiled.messageProblem))
  if (compiled.messageProgram) {
    const { messageMaxCost } = compiled
    if (messageMaxCost > ruleCostLimit)
      errors.push(
        forbidden(messagePath, costMessage('estimated messageExpression cost', messageMaxCost, ruleCostLimit)),
      )
    total.add(messagePath, messageMaxCost)
  }
  if (!compiled.problem) errors.push(...oldSelfErrors(compiled, path, place.uncorrelatable))
  return errors
}

function ruleErrors(
  schema: JsonSchema,
  rules: readonly ValidationRule[],
  place: Place,
  total: TotalCost,
): FieldError[] {
  if (rules.length === 0) return []
  const type = schemaType(schema, place.isResourceRoot)
  const at = place.path.child('x-kubernetes-validations')
  if (!type) return [invalid(at, '', 'rules are not supported on a schema without a type')]
  return rules.flatMap((rule, i) => {
    const path = at.index(i)
    return [
      ...textErrors(rule, path),
      ...pathAndReasonErrors(rule, schema, path),
      ...compiledErrors(compileRule(rule, type), type, place, path, total),
    ]
  })
}

const limited = (cardinality: number | undefined, limit: number | undefined) =>
  cardinality === undefined || limit === undefined ? undefined : Math.min(2 ** 64, cardinality * Math.max(0, limit))

function below(place: Place, path: Path, schema: JsonSchema, limit?: { most: number | undefined }): Place {
  return {
    path,
    cardinality: limit ? limited(place.cardinality, limit.most) : place.cardinality,
    uncorrelatable: place.uncorrelatable,
    isResourceRoot: schema['x-kubernetes-embedded-resource'] === true,
  }
}

function visit(schema: JsonSchema, place: Place, total: TotalCost): FieldError[] {
  const { path } = place
  const errors = ruleErrors(schema, rulesOf(schema), place, total)
  for (const [i, part] of (schema.allOf ?? []).entries()) {
    errors.push(...ruleErrors(schema, rulesOf(part), { ...place, path: path.child('allOf').index(i) }, total))
  }
  if (schema.items) {
    const inner = below(place, path.child('items'), schema.items, { most: schema.maxItems })
    if (schema['x-kubernetes-list-type'] !== 'map') inner.uncorrelatable ??= path.toString()
    errors.push(...visit(schema.items, inner, total))
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...visit(property, below(place, path.child('properties').key(name), property), total))
  }
  const values = schema.additionalProperties
  if (typeof values === 'object') {
    errors.push(
      ...visit(values, below(place, path.child('additionalProperties'), values, { most: schema.maxProperties }), total),
    )
  }
  return errors
}

/** True if a schema has rules on it or below it. */
export function hasRules(schema: JsonSchema): boolean {
  if (schema['x-kubernetes-validations']?.length) return true
  const { items, additionalProperties: values, properties, allOf } = schema
  if (items && hasRules(items)) return true
  if (typeof values === 'object' && hasRules(values)) return true
  for (const name in properties) if (hasRules(properties[name]!)) return true
  return allOf?.some(hasRules) ?? false
}

/**
 * Validates the rules of a schema, with Kubernetes' messages: rules that do not compile, that exceed a cost limit, or
 * that use an old value that does not exist. `path` is that of the schema, `spec.validation.openAPIV3Schema`.
 */
export function checkSchemaRules(schema: JsonSchema, path: Path): FieldError[] {
  if (!hasRules(schema)) return []
  const total = new TotalCost()
  const errors = visit(schema, { path, cardinality: 1, uncorrelatable: undefined, isResourceRoot: true }, total)
  return [...errors, ...total.errors(path)]
}
