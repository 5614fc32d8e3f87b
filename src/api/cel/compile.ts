import { check } from './checker.ts'
import type { Environment } from './environment.ts'
import { checkLiterals } from './literal-checks.ts'
import { Program } from './run/program.ts'
import { parse } from './syntax/parser.ts'
import { type Issue, formatIssues } from './syntax/source.ts'

/** The reason why an expression does not compile. `message` is the full text as cel-go prints it. */
interface CompileError {
  issues: readonly Issue[]
  message: string
}

export type Compiled = { program: Program; error?: undefined } | { program?: undefined; error: CompileError }

const failed = (expression: string, issues: readonly Issue[]): Compiled => ({
  error: { issues, message: formatIssues(expression, issues) },
})

/** Parses and type-checks an expression and compiles it to a program. */
export function compile(expression: string, environment: Environment): Compiled {
  const { node, issues } = parse(expression)
  if (!node) return failed(expression, issues)
  const wrong = check(node, environment)
  if (wrong.length) return failed(expression, wrong)
  const unusable = checkLiterals(node, environment.isHomogeneous)
  if (unusable.length) return failed(expression, unusable)
  return { program: new Program(expression, node) }
}
