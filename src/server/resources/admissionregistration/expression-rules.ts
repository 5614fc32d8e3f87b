import {
  type CelType,
  type Environment,
  admissionEnvironment,
  applyConfigurationType,
  boolType,
  compileAdmission,
  compileVariables,
  jsonPatchListType,
  mutationEnvironment,
  nullType,
  stringType,
} from '../../../api/cel/index.ts'
import type { Variable } from '../../../api/generated/types.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import type { Path } from '../../../api/validation/path.ts'

const isBlank = (text: string) => text.trim() === ''

const environments = [false, true].map((hasParams) => ({
  conditions: admissionEnvironment({ hasParams, hasAuthorizer: true }),
  messages: admissionEnvironment({ hasParams }),
  mutations: admissionEnvironment({ hasParams, hasAuthorizer: true }, mutationEnvironment),
}))

const environmentsFor = (hasParams: boolean) => environments[Number(hasParams)]!

/** Compiles an expression and returns its errors. */
function compileErrors(text: string, environment: Environment, returns: readonly CelType[], path: Path): FieldError[] {
  const { error } = compileAdmission(text, environment, returns)
  return error === undefined ? [] : [invalid(path, text, error)]
}

/** Validates a match condition, which has no variables. */
export const validateCondition = (expression: string, hasParams: boolean, path: Path): FieldError[] =>
  isBlank(expression)
    ? [required(path)]
    : compileErrors(expression.trim(), environmentsFor(hasParams).conditions, [boolType], path)

/** Compiles the expressions of one policy, which may use its variables. */
export class PolicyExpressions {
  readonly #variables: readonly Variable[]
  readonly #environments: ReturnType<typeof environmentsFor>
  readonly #extended = new Map<Environment, Environment>()

  constructor(variables: readonly Variable[] | undefined, hasParams: boolean) {
    this.#variables = variables ?? []
    this.#environments = environmentsFor(hasParams)
  }

  /** The environment with `variables`, if there are any. Variables are compiled once for all expressions. */
  #with(base: Environment): Environment {
    if (this.#variables.length === 0) return base
    let environment = this.#extended.get(base)
    if (!environment) this.#extended.set(base, (environment = compileVariables(this.#variables, base).environment))
    return environment
  }

  /** The errors of the variables' expressions, by index. */
  variables(pathOf: (i: number) => Path): FieldError[][] {
    const { variables } = compileVariables(this.#variables, this.#environments.conditions)
    return variables.map(({ text, error }, i) => {
      if (isBlank(text)) return [required(pathOf(i), 'expression is not specified')]
      return error === undefined ? [] : [invalid(pathOf(i), text, error)]
    })
  }

  validation(text: string, path: Path): FieldError[] {
    if (isBlank(text)) return [required(path, 'expression is not specified')]
    return compileErrors(text, this.#with(this.#environments.conditions), [boolType], path)
  }

  message(text: string, path: Path): FieldError[] {
    if (text === '') return []
    if (isBlank(text)) return [invalid(path, text, 'must be non-empty if specified')]
    return compileErrors(text, this.#with(this.#environments.messages), [stringType], path)
  }

  annotation(text: string, path: Path): FieldError[] {
    return compileErrors(text, this.#with(this.#environments.conditions), [stringType, nullType], path)
  }

  mutation(text: string, patchType: string, path: Path): FieldError[] {
    if (isBlank(text)) return [required(path, 'expression is not specified')]
    const made = patchType === 'JSONPatch' ? jsonPatchListType : applyConfigurationType
    return compileErrors(text.trim(), this.#with(this.#environments.mutations), [made], path)
  }
}
