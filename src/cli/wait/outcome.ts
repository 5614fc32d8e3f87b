import { CommandError } from '../../insight/failure.ts'
import { type Workload, conditionOf } from '../../insight/workload/object.ts'
import { type JsonPath, JsonPathError, parseJsonPath, textOfValue, valuesAt } from '../../api/json/json-path.ts'

/** An outcome to wait for. `text` is its form on the command line. */
export type Outcome = { text: string } & (
  | { kind: 'condition'; type: string; status: string }
  | { kind: 'jsonpath'; path: JsonPath; value: string | undefined }
  | { kind: 'create' }
  | { kind: 'delete' }
)

/** Parses `condition=NAME[=STATUS]`, `jsonpath=PATH[=VALUE]`, `create` or `delete`. */
export function parseOutcome(text: string): Outcome {
  if (text === 'create' || text === 'delete') return { kind: text, text }
  if (text.startsWith('condition=')) {
    const rest = text.slice('condition='.length)
    const at = rest.indexOf('=')
    const [type, status] = at < 0 ? [rest, 'True'] : [rest.slice(0, at), rest.slice(at + 1)]
    if (type === '') throw new CommandError(`unrecognized condition: ${JSON.stringify(text)}`)
    return { kind: 'condition', type, status, text }
  }
  if (text.startsWith('jsonpath=')) {
    const [path, value] = splitPath(text.slice('jsonpath='.length))
    return { kind: 'jsonpath', path: readPath(path), value, text }
  }
  throw new CommandError(`unrecognized condition: ${JSON.stringify(text)}`)
}

/** The `=` after a path follows its brace. A filter inside the path has another one. */
function splitPath(text: string): [path: string, value: string | undefined] {
  const end = text.startsWith('{') ? text.lastIndexOf('}') + 1 : text.search(/(?<!=)=(?!=)/)
  if (end <= 0 || end >= text.length) return [text, undefined]
  return [text.slice(0, end), text.slice(end + 1)]
}

/** An outcome that was met, with details from the object. */
export interface Met {
  detail: string
}

/**
 * Returns the match if an object, or its absence, meets the outcome. A condition counts only if it belongs to the
 * newest generation, unless the object does not report it. `uid` is that of the object whose deletion is awaited.
 */
export function metBy(outcome: Outcome, object: Workload | undefined, uid?: string): Met | undefined {
  // A new object of the same name does not undo the deletion.
  if (outcome.kind === 'delete')
    return object && (uid === undefined || object.metadata.uid === uid) ? undefined : { detail: '' }
  if (!object) return undefined
  if (outcome.kind === 'create') return { detail: '' }
  if (outcome.kind === 'jsonpath') {
    const values = valuesAt(object, outcome.path).map(textOfValue)
    const isMet = outcome.value === undefined ? values.length > 0 : values.length === 1 && values[0] === outcome.value
    return isMet ? { detail: '' } : undefined
  }
  const name = object.status?.conditions?.find(({ type }) => type.toLowerCase() === outcome.type.toLowerCase())?.type
  const condition = name === undefined ? undefined : conditionOf(object, name)
  if (!condition || condition.status.toLowerCase() !== outcome.status.toLowerCase()) return undefined
  const observed = condition.observedGeneration ?? object.status?.observedGeneration
  if (observed !== undefined && observed < (object.metadata.generation ?? 0)) return undefined
  return { detail: [condition.reason, condition.message].filter(Boolean).join(': ') }
}

function readPath(text: string): JsonPath {
  try {
    return parseJsonPath(text)
  } catch (e) {
    throw e instanceof JsonPathError ? new CommandError(e.message) : e
  }
}
