import { Path } from '../../validation/path.ts'
import type { JsonSchema } from '../schema/schema-types.ts'

type Step = { kind: 'child' | 'key'; name: string }

const token = /\.([^.[\]']+)|\['((?:[^'\\]|\\.)*)'\]/gy
const escapes: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
}

/**
 * Parses a `fieldPath` such as `.spec.map['key']` and checks it against a schema. Returns an error message if it is
 * invalid.
 */
function parseFieldPath(text: string, root: JsonSchema): Step[] | string {
  const steps: Step[] = []
  let schema: JsonSchema | undefined = root
  let end = 0
  for (const match of text.matchAll(token)) {
    const name = match[1] ?? match[2]!.replace(/\\(.)/g, (_, char: string) => escapes[char] ?? char)
    end += match[0].length
    if (schema?.properties) {
      if (!Object.hasOwn(schema.properties, name)) return 'does not refer to a valid field'
      steps.push({ kind: 'child', name })
      schema = schema.properties[name]
    } else if (typeof schema?.additionalProperties === 'object') {
      steps.push({ kind: 'key', name })
      schema = schema.additionalProperties
    } else return 'does not refer to a valid field'
  }
  if (end !== text.length) return `expected [ or . but got: ${text.slice(end)}`
  return steps
}

/** The error of a rule's fieldPath. Undefined if it is valid. */
export function fieldPathProblem(text: string, schema: JsonSchema): string | undefined {
  const steps = parseFieldPath(text, schema)
  return typeof steps === 'string' ? steps : undefined
}

/** The path of a rule's error: its fieldPath, below the path of the rule's value. */
export function errorPath(base: Path | undefined, text: string | undefined, schema: JsonSchema): Path | undefined {
  const steps = text ? parseFieldPath(text.trim(), schema) : []
  if (typeof steps === 'string') return base
  return steps.reduce<Path | undefined>((path, { kind, name }) => {
    if (!path) return Path.of(name)
    return kind === 'child' ? path.child(name) : path.key(name)
  }, base)
}
