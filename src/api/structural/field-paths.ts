import { type Schema, isEmbedded } from './schema.ts'

const scalars: ReadonlySet<string | undefined> = new Set(['string', 'integer', 'boolean', 'number'])

/** The names of a simple path: `.spec.name` or `.spec['na.me']`. A text says why it is none. */
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

/** Why objects cannot be selected by a path; undefined where they can. */
export function selectablePathProblem(text: string, schema: Schema): string | undefined {
  const names = pathNames(text)
  if (typeof names === 'string') return names
  let at: Schema | undefined = schema
  for (const [i, name] of names.entries()) {
    const isMeta: boolean =
      (i === 0 || isEmbedded(at)) && (name === 'metadata' || name === 'apiVersion' || name === 'kind')
    at = isMeta ? undefined : at.properties?.[name]
    if (!at) return 'does not refer to a valid field'
  }
  return scalars.has(at.type) ? undefined : 'must point to a field of type string, boolean or integer'
}
