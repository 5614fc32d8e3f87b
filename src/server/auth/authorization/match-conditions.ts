import {
  type Program,
  boolType,
  compile,
  kubernetesEnvironment,
  listType,
  mapType,
  objectType,
  stringType,
  toValue,
  untyped,
} from '../../../api/cel/index.ts'
import type { Json } from '../../../api/object.ts'

const requirement = objectType('kubernetes.SelectorRequirement', {
  key: stringType,
  operator: stringType,
  values: listType(stringType),
})
const selector = objectType('kubernetes.SelectorAttributes', {
  rawSelector: stringType,
  requirements: listType(requirement),
})
const text = (...names: string[]) => Object.fromEntries(names.map((name) => [name, stringType]))

/** The type of the CEL variable `request`: the spec of a SubjectAccessReview. */
const requestType = objectType('kubernetes.SubjectAccessReviewSpec', {
  resourceAttributes: objectType('kubernetes.ResourceAttributes', {
    ...text('namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'),
    fieldSelector: selector,
    labelSelector: selector,
  }),
  nonResourceAttributes: objectType('kubernetes.NonResourceAttributes', text('path', 'verb')),
  ...text('user', 'uid'),
  groups: listType(stringType),
  extra: mapType(stringType, listType(stringType)),
})

const environment = kubernetesEnvironment.extend({ request: requestType })

/**
 * Compiles the match conditions of a webhook into a predicate. Throws an error with one line, in Kubernetes' words, for
 * each invalid condition.
 */
export function compileConditions(expressions: readonly string[], at: string): (review: { spec: object }) => boolean {
  const problems: string[] = []
  const programs = expressions.flatMap(
    (expression, i) => compileOne(expression, `${at}[${i}].expression`, problems) ?? [],
  )
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return (review) => meets(programs, review)
}

function compileOne(expression: string, place: string, problems: string[]): Program | undefined {
  if (expression === '') return void problems.push(`${place}: Required value`)
  const { program, error } = compile(expression, environment)
  const refuse = (why: string) => void problems.push(`${place}: Invalid value: ${JSON.stringify(expression)}: ${why}`)
  if (!program) return refuse(`compilation failed: ${error.message}`)
  return program.type === boolType ? program : refuse('must evaluate to bool')
}

/**
 * True if a review meets all conditions. One false condition decides, even if others fail. Throws if one fails and none
 * is false.
 */
function meets(conditions: readonly Program[], review: { spec: object }): boolean {
  const variables = { request: toValue(requestType, review.spec as Json) ?? untyped(null) }
  let problem: string | undefined
  for (const condition of conditions) {
    const result = condition.evaluate(variables)
    if (result.error !== undefined) problem ??= result.error
    else if (result.value !== true) return false
  }
  if (problem !== undefined) throw new Error(`a match condition failed: ${problem}`)
  return true
}
