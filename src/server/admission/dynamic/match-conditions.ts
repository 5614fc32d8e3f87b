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
  matchConditionBudget,
} from '../../../api/cel/index.ts'
import type { MatchCondition } from '../../../api/generated/types.ts'
import type { Steps } from '../../../base/turns.ts'
import { decided } from './pending.ts'

/** The result of all conditions; `error` if evaluation failed and the failure policy is Fail. */
export type ConditionsResult = { matches: boolean; error?: undefined } | { matches: false; error: string }

const environments = {
  withParams: admissionEnvironment({ hasParams: true, hasAuthorizer: true }),
  withoutParams: admissionEnvironment({ hasAuthorizer: true }),
}

const noVariables: readonly AdmissionVariable[] = []

/** The match conditions of a webhook or policy, compiled once. */
export class MatchConditions {
  readonly #conditions: readonly AdmissionExpression[]
  readonly #ignoresFailure: boolean

  constructor(conditions: readonly MatchCondition[] | undefined, failurePolicy: string | undefined, hasParams = false) {
    const environment = hasParams ? environments.withParams : environments.withoutParams
    this.#conditions = (conditions ?? []).map(({ expression }) => compileAdmission(expression, environment, [boolType]))
    this.#ignoresFailure = failurePolicy === 'Ignore'
  }

  get isEmpty(): boolean {
    return this.#conditions.length === 0
  }

  /** One false condition decides, even if others fail. */
  *evaluate(input: Record<string, Value | undefined>): Steps<ConditionsResult> {
    const errors: string[] = []
    try {
      const evaluation = new AdmissionEvaluation(input, noVariables, matchConditionBudget)
      const results: Evaluated[] = []
      for (const condition of this.#conditions) results.push(yield* decided(() => evaluation.evaluate(condition)))
      if (results.some(({ value }) => value === false)) return { matches: false }
      for (const { error } of results) if (error !== undefined) errors.push(error)
    } catch (e) {
      if (!(e instanceof OutOfBudget)) throw e
      errors.push(e.message)
    }
    if (errors.length === 0) return { matches: true }
    if (this.#ignoresFailure) return { matches: false }
    const distinct = [...new Set(errors)]
    return { matches: false, error: distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]` }
  }
}
