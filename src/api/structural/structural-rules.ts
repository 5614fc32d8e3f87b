import { deepEqual } from '../deep-equal.ts'
import { compilePattern } from '../cel/index.ts'
import { type FieldError, forbidden, invalid, required } from '../validation/field-error.ts'
import type { Path } from '../validation/path.ts'
import { type Schema, isEmbedded, isIntOrString, keepsUnknown, valuesOf } from './schema.ts'

type Level = 'root' | 'items' | 'field'

/** Fields that are forbidden in schemas below anyOf, allOf, oneOf and not, with the messages. */
const nestedFields: readonly [name: keyof Schema, saying: string][] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['externalDocs', 'must be undefined to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

const intOrString = [{ type: 'integer' }, { type: 'string' }]
const isIntOrStringPair = (parts: Schema[] | undefined): boolean => parts !== undefined && deepEqual(parts, intOrString)

/** The rules of structural schemas, with Kubernetes' messages and order. */
export function structuralErrors(schema: Schema, path: Path): FieldError[] {
  const errors: FieldError[] = []
  visit(schema, 'root', path, errors)
  if (errors.length < 2) return errors
  const text = (error: FieldError) => `${error.field}: ${error.message}`
  return errors.sort((a, b) => (text(a) < text(b) ? -1 : 1))
}

function visit(schema: Schema, level: Level, path: Path, errors: FieldError[]): void {
  if (schema.type === 'array' && !schema.items) errors.push(required(path.child('items'), 'must be specified'))
  if (schema.items) visit(schema.items, 'items', path.child('items'), errors)
  const { properties } = schema
  const below = properties && path.child('properties')
  for (const name in properties) visit(properties[name]!, 'field', below!.key(name), errors)
  if (schema.additionalProperties !== undefined && level === 'root') {
    errors.push(forbidden(path.child('additionalProperties'), 'must not be used at the root'))
  }
  const values = valuesOf(schema)
  if (values) visit(values, 'field', path.child('additionalProperties'), errors)
  extensionErrors(schema, path, errors)
  junctorErrors(schema, isIntOrStringPair(schema.anyOf), isIntOrStringPair(schema.allOf?.[0]?.anyOf), path, errors)
  typeErrors(schema, level, path, errors)
  metaErrors(schema, level, path, errors)
}

function extensionErrors(schema: Schema, path: Path, errors: FieldError[]): void {
  if (!isIntOrString(schema)) return
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[name])
      errors.push(invalid(path.child(name), true, 'must be false if x-kubernetes-int-or-string is true'))
  }
}

function typeErrors(schema: Schema, level: Level, path: Path, errors: FieldError[]): void {
  const { type = '' } = schema
  const at = () => path.child('type')
  if (isEmbedded(schema) && type !== 'object') {
    const saying = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? required(at(), saying) : invalid(at(), type, saying))
  } else if (type === '' && !isIntOrString(schema) && !keepsUnknown(schema)) {
    const where = { root: 'at the root', items: 'for specified array items', field: 'for specified object fields' }[
      level
    ]
    errors.push(required(at(), `must not be empty ${where}`))
  }
  if (isEmbedded(schema) && schema.additionalProperties !== undefined) {
    errors.push(
      forbidden(path.child('additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'),
    )
  }
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(invalid(at(), type, 'must be object at the root'))
  if (isEmbedded(schema) && !keepsUnknown(schema) && Object.keys(schema.properties ?? {}).length === 0) {
    const saying =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(required(path.child('properties'), saying))
  }
}

/** The metadata fields of a resource are implicit. A schema may only restrict the name. */
function metaErrors(schema: Schema, level: Level, path: Path, errors: FieldError[]): void {
  const isResource = level === 'root' || isEmbedded(schema)
  if (!isResource) return
  const { kind, apiVersion, metadata } = schema.properties ?? {}
  const at = path.child('properties')
  for (const [name, property] of Object.entries({ kind, apiVersion })) {
    if (property && property.type !== 'string') {
      errors.push(invalid(at.key(name).child('type'), property.type ?? '', 'must be string'))
    }
  }
  if (!metadata) return
  if (metadata.type !== 'object') {
    errors.push(invalid(at.key('metadata').child('type'), metadata.type ?? '', 'must be object'))
  }
  if (level !== 'root') return
  const { type: _type, properties = {}, default: _default, ...rest } = metadata
  const isPlain = Object.keys(properties).every((name) => name === 'name' || name === 'generateName')
  if (isPlain && Object.keys(rest).length === 0) return
  const saying = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
  errors.push(forbidden(at.key('metadata'), saying))
}

function junctorErrors(
  schema: Schema,
  skipsAny: boolean,
  skipsFirstAll: boolean,
  path: Path,
  errors: FieldError[],
): void {
  if (!skipsAny) schema.anyOf?.forEach((part, i) => nested(part, false, path.child('anyOf').index(i), errors))
  schema.allOf?.forEach((part, i) => nested(part, skipsFirstAll && i === 0, path.child('allOf').index(i), errors))
  schema.oneOf?.forEach((part, i) => nested(part, false, path.child('oneOf').index(i), errors))
  if (schema.not) nested(schema.not, false, path.child('not'), errors)
  if (schema.pattern && !compilePattern(schema.pattern)) {
    const saying = `must be a valid regular expression, but isn't: error parsing regexp: \`${schema.pattern}\``
    errors.push(invalid(path.child('pattern'), schema.pattern, saying))
  }
}

function nested(schema: Schema, skipsAny: boolean, path: Path, errors: FieldError[]): void {
  junctorErrors(schema, skipsAny, false, path, errors)
  if (schema.items) nested(schema.items, false, path.child('items'), errors)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    nested(property, false, path.child('properties').key(name), errors)
  }
  for (const [name, saying] of nestedFields) {
    const value = schema[name]
    if (value === undefined || value === '' || value === false) continue
    errors.push(forbidden(path.child(name), saying))
  }
  if (schema.properties && Object.hasOwn(schema.properties, 'metadata')) {
    errors.push(forbidden(path.child('properties').key('metadata'), 'must not be specified in a nested context'))
  }
}
