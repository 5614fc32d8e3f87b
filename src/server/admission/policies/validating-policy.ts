import {
  AdmissionEvaluation,
  type AdmissionExpression,
  type AdmissionVariable,
  type Evaluated,
  OutOfBudget,
  type Value,
  admissionEnvironment,
  boolType,
  compileAdmission,
  compileVariables,
  nullType,
  policyBudget,
  stringType,
  valueTypeName,
} from '../../../api/cel/index.ts'
import type { Namespace, ValidatingAdmissionPolicy } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type Steps, endlessTurn } from '../../../base/turns.ts'
import type { Registered } from '../../registry/registry.ts'
import { type ExpressionInput, MatchConditions, decided, pauseBetween } from '../dynamic/index.ts'

export type ErrorType = 'no_error' | 'compile_error' | 'invalid_error' | 'out_of_budget'

/** The outcome of one validation. The failure policy turns an error into an admission or a denial. */
export interface Decision {
  action: 'admit' | 'deny'
  message: string
  reason?: string
  errorType: ErrorType
}

/** The value of an audit annotation, or the error of computing it. */
export type Annotation = { key: string; value: string; error?: undefined } | { key: string; error: string }

export interface Verdict {
  decisions: readonly Decision[]
  annotations: readonly Annotation[]
}

interface Validation {
  condition: AdmissionExpression
  messageExpression: AdmissionExpression | undefined
  message: string
  reason: string
}

const maxMessageBytes = 5 * 1024
const nothing: Verdict = { decisions: [], annotations: [] }

const errorTypeOf = (error: string): ErrorType =>
  error.startsWith('compilation error') ? 'compile_error' : 'invalid_error'

/** The compiled expressions of a ValidatingAdmissionPolicy. */
export class ValidatingPolicy {
  readonly #ignoresFailure: boolean
  readonly #hasParams: boolean
  readonly #conditions: MatchConditions
  readonly #variables: readonly AdmissionVariable[]
  readonly #validations: readonly Validation[]
  readonly #annotations: readonly { key: string; expression: AdmissionExpression }[]

  constructor({ spec }: ValidatingAdmissionPolicy) {
    this.#ignoresFailure = spec.failurePolicy === 'Ignore'
    this.#hasParams = spec.paramKind !== undefined
    const hasParams = this.#hasParams
    this.#conditions = new MatchConditions(spec.matchConditions, spec.failurePolicy, hasParams)
    const given = spec.variables ?? []
    const { variables, environment } = compileVariables(given, admissionEnvironment({ hasParams, hasAuthorizer: true }))
    this.#variables = variables
    const texts = compileVariables(given, admissionEnvironment({ hasParams })).environment
    this.#validations = (spec.validations ?? []).map(
      ({ expression, message = '', messageExpression, reason = 'Invalid' }) => ({
        condition: compileAdmission(expression, environment, [boolType]),
        messageExpression: messageExpression ? compileAdmission(messageExpression, texts, [stringType]) : undefined,
        message: message.trim(),
        reason,
      }),
    )
    this.#annotations = (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      expression: compileAdmission(valueExpression, environment, [stringType, nullType]),
    }))
  }

  /** Evaluates the policy for a request and one parameter object. Each expression is a step. */
  *evaluate(
    input: ExpressionInput,
    as: Registered,
    params: KubeObject | null,
    namespace: Namespace | undefined,
  ): Steps<Verdict> {
    const plain = yield* decided(() => input.of(as, this.#hasParams ? params : undefined, namespace))
    const withAuthorizer = { ...plain, ...input.authorizer() }
    if (!this.#conditions.isEmpty) {
      const { matches, error } = yield* this.#conditions.evaluate(withAuthorizer)
      if (error !== undefined) return { decisions: [this.#failed(error, errorTypeOf(error))], annotations: [] }
      if (!matches) return nothing
    }
    const pause = pauseBetween(input.versioned.request.turns ?? endlessTurn)
    const evaluating = (variables: Record<string, Value | undefined>, budget: number) =>
      new AdmissionEvaluation(variables, this.#variables, budget, pause)
    try {
      const evaluation = evaluating(withAuthorizer, policyBudget)
      const results = yield* this.#results(evaluation)
      const decisions = yield* this.#decisions(results, evaluating(plain, evaluation.remaining))
      return { decisions, annotations: yield* this.#annotate(evaluating(withAuthorizer, policyBudget)) }
    } catch (e) {
      if (!(e instanceof OutOfBudget)) throw e
      return { decisions: [this.#failed(e.message, 'out_of_budget')], annotations: [] }
    }
  }

  #failed(message: string, errorType: ErrorType): Decision {
    return { action: this.#ignoresFailure ? 'admit' : 'deny', message, errorType }
  }

  *#results(evaluation: AdmissionEvaluation): Steps<Evaluated[]> {
    const results: Evaluated[] = []
    for (const { condition } of this.#validations) results.push(yield* decided(() => evaluation.evaluate(condition)))
    return results
  }

  *#decisions(results: readonly Evaluated[], messages: AdmissionEvaluation): Steps<Decision[]> {
    const decisions: Decision[] = []
    for (const [i, result] of results.entries())
      decisions.push(yield* this.#decision(this.#validations[i]!, result, messages))
    return decisions
  }

  *#decision(validation: Validation, { value, error }: Evaluated, messages: AdmissionEvaluation): Steps<Decision> {
    if (error !== undefined) return this.#failed(error, errorTypeOf(error))
    if (value === true) return { action: 'admit', message: '', errorType: 'no_error' }
    const { condition, messageExpression, message, reason } = validation
    const denied = (text: string): Decision => ({ action: 'deny', message: text, reason, errorType: 'no_error' })
    const usual = message || `failed expression: ${condition.text.trim()}`
    if (!messageExpression) return denied(usual)
    try {
      const made = yield* decided(() => messages.evaluate(messageExpression))
      return denied(usableMessage(made.value) || usual)
    } catch (e) {
      if (!(e instanceof OutOfBudget)) throw e
      return this.#failed(`failed messageExpression: ${e.message}`, 'out_of_budget')
    }
  }

  *#annotate(evaluation: AdmissionEvaluation): Steps<Annotation[]> {
    const annotations: Annotation[] = []
    for (const { key, expression } of this.#annotations) {
      const result = yield* decided(() => evaluation.evaluate(expression))
      annotations.push(...this.#annotation(key, expression, result))
    }
    return annotations
  }

  #annotation(key: string, expression: AdmissionExpression, { value, error }: Evaluated): Annotation[] {
    if (error !== undefined) return this.#ignoresFailure ? [] : [{ key, error }]
    if (value === null) return []
    if (typeof value === 'string') return value.trim() ? [{ key, value: value.trim() }] : []
    const why = `resulted in unsupported return type: ${valueTypeName(value!)}. Return type must be either string or null.`
    return [{ key, error: `valueExpression '${expression.text}' ${why}` }]
  }
}

/** Returns a message expression's value if it is a single line within the length limit. */
function usableMessage(value: Value | undefined): string {
  const text = typeof value === 'string' ? value.trim() : ''
  return Buffer.byteLength(text) > maxMessageBytes || text.includes('\n') ? '' : text
}
