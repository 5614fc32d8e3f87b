import { check } from './checker.ts'
import type { Environment } from './environment.ts'
import { checkLiterals } from './literal-checks.ts'
import { Program } from './run/program.ts'
import { parse } from './syntax/parser.ts'
import { type Issue, formatIssues } from './syntax/source.ts'

/** Why an expression cannot be used. `message` is all of it as cel-go prints it. */
export interface CompileError {
  issues: readonly Issue[]
  message: string
}

export type Compiled = { program: Program; error?: undefined } | { program?: undefined; error: CompileError }

const failed = (expression: string, issues: readonly Issue[]): Compiled => ({
  error: { issues, message: formatIssues(expression, issues) },
})

/** Parses and checks an expression against an environment, and makes it ready to run. */
export function compile(expression: string, environment: Environment): Compiled {
  const { node, issues } = parse(expression)
  if (!node) return failed(expression, issues)
  const wrong = check(node, environment)
  if (wrong.length) return failed(expression, wrong)
  const unusable = checkLiterals(node, environment.isHomogeneous)
  if (unusable.length) return failed(expression, unusable)
  return { program: new Program(expression, node) }
}
