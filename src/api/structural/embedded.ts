import { type Fields, type Json, type ObjectMeta, isFields } from '../object.ts'
import { DecodeError, decodeObject } from '../schema/index.ts'
import { type FieldError, invalid, required } from '../validation/field-error.ts'
import { isDns1035Label, pathSegmentName } from '../validation/names.ts'
import { validateObjectMeta } from '../validation/object-meta.ts'
import type { Path } from '../validation/path.ts'
import { pathIn } from './correlate.ts'
import { type Schema, isEmbedded, valuesOf } from './schema.ts'

/** Validates the type and metadata of embedded resources. */
export type EmbeddedCheck = (value: unknown, path: Path | undefined, errors: FieldError[]) => void

/** Returns the check of a schema. Undefined if it embeds no resource. */
export function embeddedCheckOf(schema: Schema): EmbeddedCheck | undefined {
  const items = schema.items && embeddedCheckOf(schema.items)
  const values = valuesOf(schema)
  const rest = values && embeddedCheckOf(values)
  const byName = new Map<string, EmbeddedCheck>()
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const check = embeddedCheckOf(property)
    if (check) byName.set(name, check)
  }
  if (!items && !rest && byName.size === 0 && !isEmbedded(schema)) return undefined
  return (value, path, errors) => {
    if (Array.isArray(value)) {
      if (items) for (const [i, item] of value.entries()) items(item, path!.index(i), errors)
    } else if (isFields(value)) {
      if (isEmbedded(schema)) judge(value, path!, errors)
      for (const name in value) (byName.get(name) ?? rest)?.(value[name], pathIn(path, name), errors)
    }
  }
}

function judge(value: Fields, path: Path, errors: FieldError[]): void {
  const texts = { apiVersion: apiVersionProblem, kind: kindProblem }
  for (const [name, problemOf] of Object.entries(texts)) {
    const said = value[name]
    const at = path.child(name)
    if (said === undefined) errors.push(required(at))
    else if (typeof said !== 'string') errors.push(invalid(at, said, 'must be a string'))
    else {
      const problem = said === '' ? 'must not be empty' : problemOf(said)
      if (problem) errors.push(invalid(at, said, problem))
    }
  }
  if (value.metadata !== undefined) errors.push(...metadataErrors(value.metadata, path.child('metadata')))
}

const apiVersionProblem = (text: string): string | undefined =>
  text.split('/').length > 2 ? `unexpected GroupVersion string: ${text}` : undefined

function kindProblem(text: string): string | undefined {
  const problems = isDns1035Label(text.toLowerCase())
  return problems.length ? `may have mixed case, but should otherwise match: ${problems.join()}` : undefined
}

function metadataErrors(metadata: unknown, path: Path): FieldError[] {
  if (!isFields(metadata)) return [invalid(path, metadata, 'must be an object')]
  try {
    const meta = decodeObject('ObjectMeta', metadata as Json).object as ObjectMeta
    // An embedded resource may lack a name.
    const named = { ...meta, name: meta.name || 'name' }
    return validateObjectMeta(named, Boolean(meta.namespace), pathSegmentName, path, { isCustom: true })
  } catch (e) {
    if (!(e instanceof DecodeError)) throw e
    return [invalid(path, metadata, e.message)]
  }
}
