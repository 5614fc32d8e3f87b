import { compile } from '../compile.ts'
import { Interruption } from '../declarations.ts'
import type { Environment } from '../environment.ts'
import type { Program } from '../run/program.ts'
import { LazyObject } from '../schema/json-values.ts'
import { type CelType, type Field, formatType } from '../types.ts'
import { CelError, type Value } from '../values.ts'
import { variableType, withVariables } from './environment.ts'

/** Kubernetes' cost limit for all validations of a policy, and for each other group of its expressions. */
export const policyBudget = 10_000_000
/** Kubernetes' cost limit for all match conditions of a webhook or policy. */
export const matchConditionBudget = 2_500_000

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** An expression of a webhook or policy: compiled, or the reason why it did not compile. */
export interface AdmissionExpression {
  readonly text: string
  readonly program?: Program
  /** `compilation failed: ERROR: …` or `must evaluate to bool but got int`. */
  readonly error?: string
}

/** A variable of a policy. */
export interface AdmissionVariable extends AdmissionExpression {
  readonly name: string
}

const names: Partial<Record<CelType['kind'], string>> = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
}
const nameOf = (type: CelType): string => names[type.kind] ?? formatType(type)

/** Compiles an expression whose result has one of these types. An empty list allows any type. */
export function compileAdmission(
  text: string,
  environment: Environment,
  returns: readonly CelType[],
): AdmissionExpression {
  const { program, error } = compile(text, environment)
  if (!program) return { text, error: `compilation failed: ${error.message}` }
  const got = nameOf(program.type)
  const wanted = returns.map(nameOf)
  if (wanted.length === 0 || wanted.includes(got)) return { text, program }
  const said = wanted.length === 1 ? wanted[0]! : `one of [${wanted.join(' ')}]`
  return { text, error: `must evaluate to ${said} but got ${got}` }
}

/** Compiles variables in order. A variable may use the variables before it. */
export function compileVariables(
  variables: readonly { name: string; expression: string }[],
  base: Environment,
): { variables: AdmissionVariable[]; environment: Environment } {
  const fields = new Map<string, Field>()
  const environment = withVariables(base, fields)
  const compiled = variables.map(({ name, expression }): AdmissionVariable => {
    const result = compileAdmission(expression, environment, [])
    fields.set(name, { jsonName: name, type: variableType(result.program?.type) })
    return { name, ...result }
  })
  return { variables: compiled, environment }
}

/** The result of an expression. `error` has the message in Kubernetes' words. */
export type Evaluated = { value: Value; error?: undefined } | { value?: undefined; error: string }

/** Aborts the evaluation of all expressions that share a budget. */
export class OutOfBudget extends Interruption {
  constructor() {
    super(outOfBudget)
  }
}

/**
 * Evaluates the expressions of a webhook or policy for one request. Variables are computed when they are first used.
 */
export class AdmissionEvaluation {
  readonly #input: Record<string, Value | undefined>
  #remaining: number
  /** The cost of the variables computed since the last expression. */
  #composed = 0
  /** The results of the variables, errors included. */
  readonly #computed = new Map<AdmissionVariable, ReturnType<Program['evaluate']>>()
  readonly #onVariable: () => void

  /**
   * `onVariable` is called after each computed variable. It may throw an Interruption to pause the expression, which
   * is then evaluated again and finds the variable.
   */
  constructor(
    input: Record<string, Value | undefined>,
    variables: readonly AdmissionVariable[],
    budget: number,
    onVariable: () => void = () => {},
  ) {
    this.#remaining = budget
    this.#onVariable = onVariable
    const compute = Object.fromEntries(variables.map((variable) => [variable.name, () => this.#compute(variable)]))
    this.#input = { ...input, variables: new LazyObject(compute) }
  }

  /** The remaining budget. */
  get remaining(): number {
    return this.#remaining
  }

  /**
   * Throws OutOfBudget where this expression, with the variables that it is the first to use, costs more than is left.
   */
  evaluate({ text, program, error }: AdmissionExpression): Evaluated {
    if (!program) return { error: `compilation error: ${error!}` }
    const result = program.evaluate(this.#input)
    this.#remaining -= this.#composed + result.cost
    this.#composed = 0
    if (this.#remaining < 0) throw new OutOfBudget()
    if (result.error !== undefined) return { error: `expression '${text}' resulted in error: ${result.error}` }
    return { value: result.value }
  }

  #compute(variable: AdmissionVariable): Value {
    const { name, program, error } = variable
    const fails = (how: string) => new CelError(`composited variable ${JSON.stringify(name)} fails to ${how}`)
    if (!program) throw fails(`compile: ${error!}`)
    const result = this.#computed.get(variable) ?? this.#evaluateVariable(variable, program)
    if (result.error !== undefined) throw fails(`evaluate: ${result.error}`)
    return result.value
  }

  /** Throws OutOfBudget as soon as the variables cost more than is left: an expression may use a hundred of them. */
  #evaluateVariable(variable: AdmissionVariable, program: Program): ReturnType<Program['evaluate']> {
    const result = program.evaluate(this.#input)
    this.#computed.set(variable, result)
    this.#composed += result.cost
    if (this.#composed > this.#remaining) throw new OutOfBudget()
    this.#onVariable()
    return result
  }
}
