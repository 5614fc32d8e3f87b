import { jsonText } from './index.ts'

/** An invalid path. */
export class JsonPathError extends Error {}

/** One step of a path: a member, an index (from the end if negative), a wildcard, or a filter. */
type Step =
  | { kind: 'member'; name: string }
  | { kind: 'index'; index: number }
  | { kind: 'all' }
  | { kind: 'filter'; path: Step[]; value: string }

export type JsonPath = readonly Step[]

/** The syntax of a step. Each form is tried in this order at the end of the previous step. */
const stepForms: readonly { form: RegExp; step: (match: RegExpExecArray) => Step }[] = [
  { form: /\.?\[\*\]|\.\*/y, step: () => ({ kind: 'all' }) },
  {
    form: /\.?\[\?\(@((?:\.[\w-]+)+)\s*==\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+))\)\]/y,
    step: ([, path, double, single, plain]) => ({
      kind: 'filter',
      path: stepsOf(path!, path!),
      value: double ?? single ?? plain ?? '',
    }),
  },
  { form: /\.?\[(-?\d+)\]/y, step: ([, index]) => ({ kind: 'index', index: Number(index) }) },
  { form: /\.?\['([^']+)'\]/y, step: ([, name]) => ({ kind: 'member', name: name! }) },
  { form: /\.((?:[^.[\]\\]|\\.)+)/y, step: ([, name]) => ({ kind: 'member', name: name!.replaceAll(/\\(.)/g, '$1') }) },
]

/**
 * Parses the subset of kubectl's JSONPath that selects values by one path:
 * `{.status.conditions[?(@.type=="Ready")].status}`. Braces and the first dot are optional.
 */
export function parseJsonPath(text: string): JsonPath {
  if (text.startsWith('{') !== text.endsWith('}'))
    throw new JsonPathError(`jsonpath ${JSON.stringify(text)} has an unclosed brace`)
  const bare = text.startsWith('{') ? text.slice(1, -1) : text
  const path = bare.startsWith('$') ? bare.slice(1) : bare
  return stepsOf(/^[.[]/.test(path) ? path : `.${path}`, text)
}

function stepsOf(path: string, whole: string): Step[] {
  const steps: Step[] = []
  let at = 0
  while (at < path.length) {
    const next = nextStep(path, at)
    if (!next)
      throw new JsonPathError(`jsonpath ${JSON.stringify(whole)} cannot be read at ${JSON.stringify(path.slice(at))}`)
    steps.push(next.step)
    at = next.end
  }
  return steps
}

function nextStep(path: string, at: number): { step: Step; end: number } | undefined {
  for (const { form, step } of stepForms) {
    form.lastIndex = at
    const match = form.exec(path)
    if (match) return { step: step(match), end: at + match[0].length }
  }
  return undefined
}

/** All values that a path selects. */
export function valuesAt(value: unknown, path: JsonPath): unknown[] {
  let values = [value]
  for (const step of path) values = values.flatMap((one) => follow(one, step))
  return values.filter((one) => one !== undefined)
}

function follow(value: unknown, step: Step): unknown[] {
  if (value === null || typeof value !== 'object') return []
  if (step.kind === 'member')
    return Object.hasOwn(value, step.name) ? [(value as Record<string, unknown>)[step.name]] : []
  if (step.kind === 'all') return Object.values(value)
  if (!Array.isArray(value)) return []
  if (step.kind === 'index') return [value.at(step.index)]
  return value.filter((item) => valuesAt(item, step.path).some((found) => textOfValue(found) === step.value))
}

/** The string form of a value, which is compared with the command line. */
export const textOfValue = (value: unknown): string => (typeof value === 'string' ? value : jsonText(value))
