import { RuleValidator, hasRules } from '../cel/index.ts'
import { cloneObject } from '../json/index.ts'
import { deepEqual } from '../deep-equal.ts'
import type { Json } from '../object.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '../validation/field-error.ts'
import type { Path } from '../validation/path.ts'
import { Findings } from './findings.ts'
import { isKnownFormat } from './formats.ts'
import { prune } from './prune.ts'
import { type Schema, isEmbedded, isIntOrString, valuesOf } from './schema.ts'
import { checkOf } from './validate.ts'

/** Keywords of JSON schema that custom resources must not use. */
const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const

/** Validates a schema by rules that do not depend on whether it is structural. */
export function schemaErrors(schema: Schema, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (schema.nullable) errors.push(forbidden(path.child('nullable'), 'nullable cannot be true at the root'))
  visit(schema, path, errors, false)
  for (const name of ['metadata', 'kind', 'apiVersion']) {
    const property = schema.properties?.[name]
    if (property) noDefaults(property, name, path.child('properties').key(name), errors)
  }
  return errors
}

/** Metadata has the defaults of its own type, and no others. */
function noDefaults(schema: Schema, name: string, path: Path, errors: FieldError[]): void {
  if (schema.default !== undefined)
    errors.push(forbidden(path.child('default'), `must not be set in top-level ${name}`))
  for (const [field, property] of Object.entries(schema.properties ?? {}))
    noDefaults(property, name, path.child('properties').key(field), errors)
  const values = valuesOf(schema)
  if (values) noDefaults(values, name, path.child('additionalProperties'), errors)
  if (schema.items) noDefaults(schema.items, name, path.child('items'), errors)
}

/** The fields of a root that has a status subresource: the status is also validated on its own. */
const rootFields =
  'description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems multipleOf required items properties externalDocs example x-kubernetes-preserve-unknown-fields x-kubernetes-validations'
const rootFieldNames: ReadonlySet<string> = new Set(rootFields.split(' '))

/** Go's names of these fields. */
const shownRootFields = rootFields
  .split(' ')
  .map((name) =>
    name.replace(/^x-kubernetes-/, 'x-').replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase()),
  )
  .join(' ')

/** Validates the root of a schema with a status subresource. */
export function statusRootErrors(schema: Schema, path: Path): FieldError[] {
  if (schema.type && schema.type !== 'object') {
    const saying = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    return [invalid(path.child('type'), schema.type, saying)]
  }
  if (Object.entries(schema).every(([name, value]) => rootFieldNames.has(name) || !isSet(value) || value === false))
    return []
  const saying = `only [${shownRootFields}] fields are allowed at the root of the schema if the status subresource is enabled`
  return [invalid(path, schema, saying)]
}

const junctors = ['allOf', 'oneOf', 'anyOf'] as const

function visit(schema: Schema, path: Path, errors: FieldError[], isNested: boolean): void {
  keywordErrors(schema, path, errors)
  if (!isNested) extensionErrors(schema, path, errors)
  const values = valuesOf(schema)
  if (values) visit(values, path.child('additionalProperties'), errors, isNested)
  const { properties } = schema
  const below = properties && path.child('properties')
  for (const name in properties) visit(properties[name]!, below!.key(name), errors, isNested)
  if (schema.not) visit(schema.not, path.child('not'), errors, true)
  for (const junctor of junctors) {
    schema[junctor]?.forEach((part, i) => visit(part, path.child(junctor).index(i), errors, true))
  }
  if (schema.items && !Array.isArray(schema.items)) visit(schema.items, path.child('items'), errors, isNested)
}

const isSet = (value: unknown): boolean =>
  value !== undefined &&
  value !== '' &&
  !(typeof value === 'object' && value !== null && Object.keys(value).length === 0)

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']

function keywordErrors(schema: Schema, path: Path, errors: FieldError[]): void {
  if (schema.type && !types.includes(schema.type)) errors.push(notSupported(path.child('type'), schema.type, types))
  for (const name of unsupported) {
    if (isSet(schema[name])) errors.push(forbidden(path.child(name), `${name} is not supported`))
  }
  if (schema.type === 'null')
    errors.push(forbidden(path.child('type'), 'type cannot be set to null, use nullable as an alternative'))
  if (Array.isArray(schema.items)) {
    errors.push(forbidden(path.child('items'), 'items must be a schema object and not an array'))
  }
  if (schema.uniqueItems) {
    const saying = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    errors.push(forbidden(path.child('uniqueItems'), saying))
  }
  const { additionalProperties: rest } = schema
  if (rest !== undefined && rest !== true && Object.keys(schema.properties ?? {}).length) {
    const saying = 'additionalProperties and properties are mutual exclusive'
    errors.push(forbidden(path.child('additionalProperties'), saying))
  }
}

function extensionErrors(schema: Schema, path: Path, errors: FieldError[]): void {
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'))
  }
  mapTypeErrors(schema, path, errors)
  listTypeErrors(schema, path, errors)
}

function mapTypeErrors(schema: Schema, path: Path, errors: FieldError[]): void {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return
  if (schema.type !== 'object') mustBe(schema, 'object', 'x-kubernetes-map-type', path, errors)
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(path.child('x-kubernetes-map-type'), mapType, ['atomic', 'granular']))
  }
}

function mustBe(schema: Schema, type: string, name: string, path: Path, errors: FieldError[]): void {
  const saying = `must be ${type} if ${name} is specified`
  errors.push(schema.type ? invalid(path.child('type'), schema.type, saying) : required(path.child('type'), saying))
}

function listTypeErrors(schema: Schema, path: Path, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type']
  if (listType === undefined && schema['x-kubernetes-list-map-keys'] === undefined) return
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const at = path.child('x-kubernetes-list-type')
  if (listType !== undefined) {
    if (schema.type !== 'array') mustBe(schema, 'array', 'x-kubernetes-list-type', path, errors)
    if (!['atomic', 'set', 'map'].includes(listType)) errors.push(notSupported(at, listType, ['atomic', 'map', 'set']))
  }
  if (keys.length && listType !== 'map') {
    const saying = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? required(at, saying) : invalid(at, listType, saying))
  }
  if (listType === 'map') mapListErrors(schema, keys, path, errors)
  if (listType === 'set' && schema.items) setItemErrors(schema.items, path.child('items'), errors)
}

function mapListErrors(schema: Schema, keys: readonly string[], path: Path, errors: FieldError[]): void {
  const at = path.child('x-kubernetes-list-map-keys')
  if (keys.length === 0) {
    errors.push(required(at, 'must not be empty if x-kubernetes-list-type is map'))
    return
  }
  const { items } = schema
  if (!items) errors.push(required(path.child('items'), 'must have a schema if x-kubernetes-list-type is map'))
  else if (items.type !== 'object') {
    const saying = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push(invalid(path.child('items', 'type'), items.type ?? '', saying))
  }
  const properties = items?.properties ?? {}
  if (!keys.every((key) => Object.hasOwn(properties, key))) {
    errors.push(invalid(at, keys, 'entries must all be names of item properties'))
    return
  }
  if (new Set(keys).size < keys.length) errors.push(invalid(at, keys, 'must not contain duplicate entries'))
  for (const key of new Set(keys)) keyErrors(items!, key, path, errors)
}

function keyErrors(items: Schema, key: string, path: Path, errors: FieldError[]): void {
  const property = items.properties![key]!
  const at = path.child('items', 'properties').key(key)
  if (property.type === 'array' || property.type === 'object') {
    errors.push(
      invalid(at.child('type'), property.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"),
    )
  }
  if (property.nullable) {
    errors.push(forbidden(at.child('nullable'), 'cannot be nullable when x-kubernetes-list-type is map'))
  }
  if (property.default === undefined && !items.required?.includes(key)) {
    const saying = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
    errors.push(required(at.child('default'), saying))
  }
}

function setItemErrors(items: Schema, path: Path, errors: FieldError[]): void {
  if (items.nullable)
    errors.push(forbidden(path.child('nullable'), 'cannot be nullable when x-kubernetes-list-type is set'))
  const isAtomic = items.type === 'object' ? items['x-kubernetes-map-type'] === 'atomic' : true
  if (!isAtomic) {
    const saying = 'must be atomic as item of a list with x-kubernetes-list-type=set'
    errors.push(invalid(path.child('x-kubernetes-map-type'), items['x-kubernetes-map-type'] ?? null, saying))
  }
  const isAtomicList = items.type !== 'array' || (items['x-kubernetes-list-type'] ?? 'atomic') === 'atomic'
  if (!isAtomicList) {
    const saying = 'must be atomic as item of a list with x-kubernetes-list-type=set'
    errors.push(invalid(path.child('x-kubernetes-list-type'), items['x-kubernetes-list-type'], saying))
  }
}

/** Validates defaults: they must conform to their schema and have no unknown fields. */
export function defaultErrors(schema: Schema, path: Path): FieldError[] {
  const errors: FieldError[] = []
  visitDefaults(schema, path, errors)
  return errors
}

function visitDefaults(schema: Schema, path: Path, errors: FieldError[]): void {
  const { default: value } = schema
  if (value !== undefined && value !== null) {
    const at = path.child('default')
    const pruned = cloneObject({ value: value as Json })
    prune(pruned.value, schema, isEmbedded(schema))
    if (!deepEqual(pruned.value, value)) errors.push(invalid(at, value, 'must not have unknown fields'))
    const found = new Findings(at)
    checkOf(schema)(value, undefined, undefined, found)
    errors.push(...found.errors)
    if (found.isEmpty && hasRules(schema))
      errors.push(...new RuleValidator(schema, isEmbedded(schema)).validate(value, at).errors)
  }
  if (schema.items) visitDefaults(schema.items, path.child('items'), errors)
  const { properties } = schema
  const below = properties && path.child('properties')
  for (const name in properties) visitDefaults(properties[name]!, below!.key(name), errors)
}

/** The formats that are not validated. */
export function unrecognizedFormats(schema: Schema): string[] {
  const found: string[] = []
  findFormats(schema, found)
  return found
}

function findFormats(schema: Schema, found: string[]): void {
  const { format, items, properties } = schema
  if (format && !isIntOrString(schema) && !isKnownFormat(format, schema.type)) found.push(format)
  if (items) findFormats(items, found)
  const values = valuesOf(schema)
  if (values) findFormats(values, found)
  for (const name in properties) findFormats(properties[name]!, found)
}
