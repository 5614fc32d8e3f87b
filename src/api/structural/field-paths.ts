import { type Schema, isEmbedded } from './schema.ts'

const scalars: ReadonlySet<string | undefined> = new Set(['string', 'integer', 'boolean'])

/** Parses a simple path: `.spec.name` or `.spec['na.me']`. Returns an error message for any other. */
export function pathNames(text: string): string[] | string {
  const names: string[] = []
  const step = /\.([A-Za-z_][\w-]*)|\['([^']*)'\]|\["([^"]*)"\]/y
  for (let at = 0; at < text.length; at = step.lastIndex) {
    step.lastIndex = at
    const found = step.exec(text)
    if (!found) return `expected [ or . but got: ${/^[^.[]*/.exec(text.slice(at))![0] || text.slice(at)}`
    names.push(found[1] ?? found[2] ?? found[3]!)
  }
  return names
}

/** Returns the reason why a path cannot be a selectable field, or undefined. */
export function selectablePathProblem(text: string, schema: Schema): string | undefined {
  if (text.includes('[')) return 'is an invalid path: array notation is not allowed'
  const names = pathNames(text)
  if (typeof names === 'string') return `is an invalid path: ${names}`
  let at: Schema | undefined = schema
  for (const [i, name] of names.entries()) {
    const isMeta: boolean =
      (i === 0 || isEmbedded(at)) && (name === 'metadata' || name === 'apiVersion' || name === 'kind')
    at = isMeta ? undefined : at.properties?.[name]
    if (!at) return 'is an invalid path: does not refer to a valid field'
  }
  if (scalars.has(at.type)) return undefined
  return 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
}
