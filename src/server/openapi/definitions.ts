import { describeField } from '../../api/schema/descriptions.ts'
import type { Field, FieldType, ScalarType, SchemaTable } from '../../api/schema/schema.ts'
import type { ServedType } from './definition-names.ts'
import { definitionNames, partsOf, servedTypes } from './definition-names.ts'
import { fieldDescription } from './field-descriptions.ts'
import type { Served } from '../discovery/served.ts'
import { listKindOf } from '../registry/resource.ts'
import { type Definition, swaggerSchema } from './swagger-schema.ts'
import { isFields } from '../../api/object.ts'

const isDefinition = (value: unknown): value is Definition => isFields(value)

type SpecVersion = 'v2' | 'v3'

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** The body of a patch of any type. */
export const patchDefinition = `${meta}.Patch`

/** Scalars with their own definitions, which clients recognize by name. */
const named: Partial<Record<ScalarType, string>> = {
  time: `${meta}.Time`,
  microTime: `${meta}.MicroTime`,
  duration: `${meta}.Duration`,
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  raw: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
}

/** Raw values that are not RawExtension. */
const rawFields: Record<string, string> = { 'ManagedFieldsEntry.fieldsV1': `${meta}.FieldsV1` }

/** Defaults that strategic merge by key depends on. */
const keyDefaults: Record<string, unknown> = { 'ContainerPort.protocol': 'TCP', 'ServicePort.protocol': 'TCP' }

const plain: Partial<Record<ScalarType, Definition>> = {
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
}

const either = (version: SpecVersion, format: string | undefined, types: string[]): Definition =>
  version === 'v2'
    ? { type: 'string', ...(format ? { format } : {}) }
    : { ...(format ? { format } : {}), oneOf: types.map((type) => ({ type })) }

function scalarDefinitions(version: SpecVersion): Record<string, Definition> {
  return {
    [`${meta}.Time`]: {
      description:
        'Time is a wrapper around time.Time which supports correct marshaling to YAML and JSON.  Wrappers are provided for many of the factory methods that the time package offers.',
      type: 'string',
      format: 'date-time',
    },
    [`${meta}.MicroTime`]: {
      description: 'MicroTime is version of Time with microsecond level precision.',
      type: 'string',
      format: 'date-time',
    },
    [`${meta}.Duration`]: {
      description: 'Duration is a wrapper around time.Duration which supports correct marshaling to YAML and JSON.',
      type: 'string',
    },
    [`${meta}.FieldsV1`]: {
      description: 'FieldsV1 stores a set of fields in a data structure like a Trie, in JSON format.',
      type: 'object',
    },
    [patchDefinition]: {
      description: 'Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.',
      type: 'object',
    },
    'io.k8s.apimachinery.pkg.runtime.RawExtension': {
      description: 'RawExtension holds an object of a kind that is not known here.',
      type: 'object',
    },
    'io.k8s.apimachinery.pkg.api.resource.Quantity': {
      description:
        'Quantity is a fixed-point representation of a number: digits, perhaps a decimal point, and a suffix. Suffixes are binary (Ki, Mi, Gi, Ti, Pi, Ei), decimal (n, u, m, k, M, G, T, P, E) or an exponent (e3, E3).',
      ...either(version, undefined, ['string', 'number']),
    },
    'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
      description: 'IntOrString is a type that can hold an int32 or a string.',
      ...either(version, 'int-or-string', ['integer', 'string']),
    },
  }
}

/** The OpenAPI extensions for patches of lists and maps. */
function hints(field: Field): Definition {
  return {
    ...(field.listMapKeys ? { 'x-kubernetes-list-map-keys': field.listMapKeys } : {}),
    ...(field.listType ? { 'x-kubernetes-list-type': field.listType } : {}),
    ...(field.mapType ? { 'x-kubernetes-map-type': field.mapType } : {}),
    ...(field.patchMergeKey ? { 'x-kubernetes-patch-merge-key': field.patchMergeKey } : {}),
    ...(field.patchStrategy ? { 'x-kubernetes-patch-strategy': field.patchStrategy } : {}),
  }
}

/** Generates the definitions of types for one version of OpenAPI. */
export class Definitions {
  readonly types: ServedType[]
  readonly #version: SpecVersion
  readonly #table: SchemaTable
  readonly #names: Map<string, string>
  /** The kinds of lists, by type name. */
  readonly #listKinds: ReadonlyMap<string, string>
  readonly #custom: ReadonlyMap<string, Definition>

  constructor(served: Served, table: SchemaTable, version: SpecVersion) {
    this.#version = version
    this.#table = table
    this.types = servedTypes(served, table)
    this.#custom = new Map(
      served.resources.flatMap((r) => (r.isCustom ? [[r.type!, r.objectType!.schema as Definition]] : [])),
    )
    this.#names = definitionNames(this.types, table)
    this.#listKinds = new Map(this.types.map((of) => [of.type, listKindOf(of)]))
  }

  nameOf(type: string): string {
    return this.#names.get(type) ?? `${meta}.${type}`
  }

  listNameOf(type: string, kind: string): string {
    const name = this.nameOf(type)
    return `${name.slice(0, name.lastIndexOf('.'))}.${this.#listKinds.get(type) ?? `${kind}List`}`
  }

  ref(name: string): Definition {
    return { $ref: `${this.#version === 'v2' ? '#/definitions/' : '#/components/schemas/'}${name}` }
  }

  /** The definitions of types and everything they refer to, and of the lists of `listed`. */
  define(roots: Iterable<string>, listed: Iterable<ServedType>): Record<string, Definition> {
    const all: Record<string, Definition> = scalarDefinitions(this.#version)
    const kinds = new Map(this.types.map((t) => [t.type, t]))
    const done = new Set<string>()
    const add = (type: string) => {
      const custom = this.#custom.get(type)
      if (custom && !done.has(type)) {
        done.add(type)
        all[type] = { ...this.#customKind(custom), ...groupVersionKind(kinds.get(type)!) }
        add('ObjectMeta')
      }
      if (done.has(type) || !this.#table[type]) return
      done.add(type)
      const of = kinds.get(type)
      all[this.nameOf(type)] = { ...this.#struct(type), ...(of ? groupVersionKind(of) : {}) }
      for (const part of partsOf(this.#table, type)) add(part)
    }
    for (const type of roots) add(type)
    for (const of of listed) {
      add(of.type)
      add('ListMeta')
      all[this.listNameOf(of.type, of.kind)] = this.#list(of)
    }
    return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #struct(type: string): Definition {
    const fields = Object.values(this.#table[type]!.fields)
    const description = describeField(type)
    const required = fields.filter((f) => f.required).map((f) => f.name)
    const properties = fields.map((f) => [f.name, this.#field(type, f)] as const).sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      ...(description ? { description } : {}),
      type: 'object',
      ...(required.length ? { required } : {}),
      ...(properties.length ? { properties: Object.fromEntries(properties) } : {}),
    }
  }

  /** The definition of a custom resource: its schema and the fields of every object. */
  #customKind(schema: Definition): Definition {
    const told = this.#version === 'v2' ? swaggerSchema(schema) : this.#withEmbedded(schema)
    return { ...told, properties: { ...(told.properties as Definition | undefined), ...this.#resourceFields() } }
  }

  /** The fields of every object, also of embedded ones. */
  #resourceFields(): Definition {
    const metadata = this.ref(this.nameOf('ObjectMeta'))
    const description = describeField('Pod', 'metadata')
    return {
      apiVersion: { description: describeField('Status', 'apiVersion'), type: 'string' },
      kind: { description: describeField('Status', 'kind'), type: 'string' },
      metadata: { description, ...(this.#version === 'v3' ? { allOf: [metadata] } : metadata) },
    }
  }

  /** Adds the fields of every object to embedded resources. Returns the same schema if there are none. */
  #withEmbedded(schema: Definition): Definition {
    let out = schema
    const put = (name: string, value: unknown) => {
      if (value !== out[name]) out = { ...out, [name]: value }
    }
    const { items, additionalProperties: values, properties } = schema
    if (isDefinition(items)) put('items', this.#withEmbedded(items))
    if (isDefinition(values)) put('additionalProperties', this.#withEmbedded(values))
    if (isDefinition(properties)) {
      let told = properties
      for (const [name, part] of Object.entries(properties)) {
        const next = this.#withEmbedded(part as Definition)
        if (next !== part) told = { ...told, [name]: next }
      }
      put('properties', told)
    }
    return schema['x-kubernetes-embedded-resource']
      ? { ...out, properties: { ...(out.properties as Definition | undefined), ...this.#resourceFields() } }
      : out
  }

  #field(type: string, field: Field): Definition {
    const where = `${type}.${field.name}`
    const struct = field.type.kind === 'struct' ? field.type.name : undefined
    const description = fieldDescription(type, field.name, struct)
    const shape = this.#shape(field.type, { raw: rawFields[where], values: field.enum })
    return {
      ...(description ? { description } : {}),
      ...('$ref' in shape && this.#version === 'v3' ? { allOf: [shape] } : shape),
      ...(struct && field.zero === 'emit' && !field.nullable ? { default: {} } : {}),
      ...(where in keyDefaults ? { default: keyDefaults[where] } : {}),
      ...hints(field),
    }
  }

  #shape(type: FieldType, scalar: { raw: string | undefined; values: readonly string[] | undefined }): Definition {
    switch (type.kind) {
      case 'struct':
        return this.ref(this.nameOf(type.name))
      case 'list':
        return { type: 'array', items: this.#shape(type.of, scalar) }
      case 'map':
        return { type: 'object', additionalProperties: this.#shape(type.of, scalar) }
      case 'string':
        return { type: 'string', ...(scalar.values ? { enum: scalar.values } : {}) }
      default:
        return plain[type.kind] ?? this.ref(type.kind === 'raw' && scalar.raw ? scalar.raw : named[type.kind]!)
    }
  }

  #list(of: ServedType): Definition {
    return {
      description: `${listKindOf(of)} is a list of ${of.kind} objects.`,
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { description: describeField('Status', 'apiVersion'), type: 'string' },
        items: { type: 'array', items: this.ref(this.nameOf(of.type)) },
        kind: { description: describeField('Status', 'kind'), type: 'string' },
        metadata: this.#version === 'v3' ? { allOf: [this.ref(`${meta}.ListMeta`)] } : this.ref(`${meta}.ListMeta`),
      },
      ...groupVersionKind({ ...of, kind: listKindOf(of) }),
    }
  }
}

const groupVersionKind = ({ group, version, kind }: { group: string; version: string; kind: string }): Definition => ({
  'x-kubernetes-group-version-kind': [{ group, kind, version }],
})
