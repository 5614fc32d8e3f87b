import {
  type Program, boolType, compile, kubernetesEnvironment, listType, mapType, objectType, stringType, toValue, untyped,
} from '../../../api/cel/index.ts'
import type { Json } from '../../../api/object.ts'

const requirement = objectType('kubernetes.SelectorRequirement', { key: stringType, operator: stringType, values: listType(stringType) })
const selector = objectType('kubernetes.SelectorAttributes', { rawSelector: stringType, requirements: listType(requirement) })
const text = (...names: string[]) => Object.fromEntries(names.map((name) => [name, stringType]))

/** The spec of a SubjectAccessReview, which expressions know as `request`. */
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

/** Compiles the match conditions of a webhook. `problems` gets a line in Kubernetes' words for each that cannot be used. */
export function compileConditions(expressions: readonly string[], at: string, problems: string[]): Program[] {
  return expressions.flatMap((expression, i) => {
    const place = `${at}[${i}].expression`
    if (expression === '') {
      problems.push(`${place}: Required value`)
      return []
    }
    const { program, error } = compile(expression, environment)
    const refuse = (why: string) => void problems.push(`${place}: Invalid value: ${JSON.stringify(expression)}: ${why}`)
    if (!program) {
      refuse(`compilation failed: ${error.message}`)
      return []
    }
    if (program.type !== boolType) {
      refuse('must evaluate to bool')
      return []
    }
    return [program]
  })
}

/** Whether a review meets all conditions. One that is false decides, whatever becomes of the others; throws where one fails and none is false. */
export function meets(conditions: readonly Program[], review: { spec: object }): boolean {
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
