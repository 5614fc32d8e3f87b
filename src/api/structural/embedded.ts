import { type Fields, type ObjectMeta, isFields } from '../object.ts'
import { type FieldError, invalid, required } from '../validation/field-error.ts'
import { validateAnnotations, validateLabels } from '../validation/object-meta.ts'
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
  for (const name of ['apiVersion', 'kind']) {
    const said = value[name]
    if (said === undefined || said === '') errors.push(required(path.child(name)))
    else if (typeof said !== 'string') errors.push(invalid(path.child(name), said, 'must be a string'))
  }
  const { metadata } = value
  if (metadata === undefined) return
  const at = path.child('metadata')
  if (!isFields(metadata)) {
    errors.push(invalid(at, metadata, 'must be an object'))
    return
  }
  const { labels, annotations } = metadata as ObjectMeta
  if (isFields(labels)) errors.push(...validateLabels(labels, at.child('labels')))
  if (isFields(annotations)) errors.push(...validateAnnotations(annotations, at.child('annotations')))
}
