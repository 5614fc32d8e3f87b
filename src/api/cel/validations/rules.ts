import { type Compiled, compile } from '../compile.ts'
import { estimateCost, schemaSizes } from '../cost/estimate.ts'
import { kubernetesEnvironment } from '../kubernetes.ts'
import { type Program } from '../run/program.ts'
import { type JsonSchema, type ValidationRule, maxRequestBytes, minSize } from '../schema/schema-types.ts'
import { type CelType, optionalType } from '../types.ts'

/** The error of a rule or of its messageExpression. */
export interface RuleProblem {
  kind: 'required' | 'invalid'
  detail: string
}

/** A rule of x-kubernetes-validations, compiled for the type of its value. */
export interface CompiledRule {
  rule: ValidationRule
  program?: Program
  problem?: RuleProblem
  /** The maximum cost of one evaluation. */
  maxCost: number
  messageProgram?: Program
  messageProblem?: RuleProblem
  messageMaxCost: number
  usesOldSelf: boolean
}

/** The maximum number of values of a type in a request, if no enclosing list or map has a limit. */
export const maxCardinality = (type: CelType): number => Math.floor(maxRequestBytes / (minSize(type) + 1))

function compileBoolean(
  expression: string,
  environment: typeof kubernetesEnvironment,
): { program?: Program; problem?: RuleProblem } {
  const { program, error } = compile(expression, environment)
  if (!program) return { problem: { kind: 'invalid', detail: `compilation failed: ${error.message}` } }
  if (program.type.kind !== 'bool')
    return { problem: { kind: 'invalid', detail: 'cel expression must evaluate to a bool' } }
  return { program }
}

function messageProblem({ program, error }: Compiled): RuleProblem | undefined {
  if (!program) return { kind: 'invalid', detail: `messageExpression compilation failed: ${error.message}` }
  if (program.type.kind !== 'string') return { kind: 'invalid', detail: 'messageExpression must evaluate to a string' }
  return undefined
}

/** Compiles one rule for values of a type. */
export function compileRule(rule: ValidationRule, type: CelType): CompiledRule {
  const result: CompiledRule = { rule, maxCost: 0, messageMaxCost: 0, usesOldSelf: false }
  if (rule.rule.trim() === '') return { ...result, problem: { kind: 'required', detail: 'rule is not specified' } }
  const oldSelf = rule.optionalOldSelf ? optionalType(type) : type
  const environment = kubernetesEnvironment.extend({ self: type, oldSelf })
  const sizes = schemaSizes({ self: type, oldSelf: type })
  const { program, problem } = compileBoolean(rule.rule, environment)
  if (!program) return { ...result, problem: problem! }
  result.program = program
  result.maxCost = estimateCost(program.node, sizes).max
  result.usesOldSelf = program.uses('oldSelf')
  if (!rule.messageExpression) return result
  const message = compile(rule.messageExpression, environment)
  const wrong = messageProblem(message)
  if (wrong) return { ...result, messageProblem: wrong }
  result.messageProgram = message.program!
  result.messageMaxCost = estimateCost(message.program!.node, sizes).max
  result.usesOldSelf ||= message.program!.uses('oldSelf')
  return result
}

/** The rules of a schema itself, without those below it. */
export const rulesOf = (schema: JsonSchema): readonly ValidationRule[] => schema['x-kubernetes-validations'] ?? []
