import { deepEqual } from '../../api/deep-equal.ts'
import { forbiddenError } from '../../api/errors.ts'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../../api/generated/types.ts'
import { cloneObject, jsonText } from '../../api/json/index.ts'
import { type Json, type KubeObject, isFields } from '../../api/object.ts'
import type { ObjectType } from '../../api/object-type.ts'
import { decodeObject } from '../../api/schema/index.ts'
import { type MergeType, builtInMergeType } from '../../api/managed-fields/index.ts'
import { type Judgement, type Schema, StructuralSchema, mergeTypeOf, pathNames } from '../../api/structural/index.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import { finalizerWarnings } from '../../api/validation/object-meta.ts'
import { subdomainName } from '../../api/validation/names.ts'
import { schemaOf } from '../resources/apiextensions/versions.ts'
import { keepMetadata } from '../resources/kept-metadata.ts'
import { compareVersions } from '../discovery/index.ts'
import type { Resource, Verb } from '../registry/resource.ts'
import { columnsOf } from './columns.ts'
import { readAs } from './conversion.ts'
import { scaleErrors, scaleMapping, scaleStatusErrors } from './scale.ts'

/** The order of verbs in Kubernetes' discovery of custom resources. */
const verbs: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']

type WithStatus = KubeObject & { status?: unknown }

/** The type of a custom kind: built-in metadata, and the definition's schema. */
function customType(name: string, schema: StructuralSchema): ObjectType {
  let merge: MergeType | undefined
  return {
    name,
    isCustom: true,
    get schema() {
      return schema.schema
    },
    decode(value, options = {}) {
      const object = (options.isOwned ? value : cloneObject(value)) as { [key: string]: Json }
      const unknown: string[] = []
      const { metadata } = object
      const meta = decodeObject('ObjectMeta', isFields(metadata) ? (metadata as Json) : {}, { isOwned: true })
      object.metadata = meta.object
      for (const field of meta.unknown) unknown.push(`metadata.${field}`)
      unknown.push(...schema.prune(object))
      const problems = unknown.sort().map((field) => `unknown field ${JSON.stringify(field)}`)
      const repeated = (options.duplicates ?? []).map((field) => `duplicate field ${JSON.stringify(field)}`)
      return { object, unknown, problems: [...repeated, ...problems] }
    },
    emptyStatus: () => ({}),
    get mergeType() {
      return (merge ??= customMergeType(schema.schema))
    },
  }
}

/** The merge rules of a custom kind: built-in ones for metadata, the schema's for all else. */
function customMergeType(schema: Schema): MergeType {
  const own = mergeTypeOf(schema)
  if (own.kind !== 'map') return own
  const metadata = builtInMergeType('ObjectMeta')
  const text: MergeType = { kind: 'scalar' }
  return {
    kind: 'map',
    isAtomic: false,
    declares: (name) => name === 'metadata' || name === 'apiVersion' || name === 'kind' || own.declares(name),
    field(name) {
      if (name === 'metadata') return metadata
      return name === 'apiVersion' || name === 'kind' ? text : own.field(name)
    },
  }
}

/**
 * The parts of an object whose change increments the generation: all but metadata, and but status if it is a
 * subresource.
 */
function wanted(object: KubeObject, hasStatus: boolean): object {
  const { metadata: _metadata, ...rest } = object as WithStatus
  if (hasStatus) delete rest.status
  return rest
}

function fieldReader(path: string): (object: KubeObject) => string {
  const found = pathNames(path)
  const names = typeof found === 'string' ? [] : found
  return (object) => {
    let at: unknown = object
    for (const name of names) at = isFields(at) ? at[name] : undefined
    if (at === undefined || at === null) return ''
    return typeof at === 'string' ? at : jsonText(at)
  }
}

/** The selectable fields of a version. */
function selectableFields({ selectableFields: fields }: CustomResourceDefinitionVersion): Resource['selectableFields'] {
  if (!fields?.length) return undefined
  return Object.fromEntries(fields.map(({ jsonPath }) => [jsonPath.replace(/^\./, ''), fieldReader(jsonPath)]))
}

/** The OpenAPI definition name of a kind, such as `com.example.v1.Boat`. */
const typeName = ({ spec }: CustomResourceDefinition, version: string): string =>
  [...spec.group.split('.').reverse(), version, spec.names.kind].join('.')

/** The warning of a deprecated version. By default it names a better version, if there is one. */
function deprecationWarning({ spec }: CustomResourceDefinition, version: CustomResourceDefinitionVersion): string {
  if (version.deprecationWarning) return version.deprecationWarning
  const {
    group,
    names: { kind },
    versions,
  } = spec
  const better = versions
    .filter(({ name, served, deprecated }) => served && !deprecated && compareVersions(name, version.name) < 0)
    .map(({ name }) => name)
    .sort(compareVersions)[0]
  return `${group}/${version.name} ${kind} is deprecated${better ? `; use ${group}/${better} ${kind}` : ''}`
}

/** The resource for one version of a definition. */
export function customResource(
  definition: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
): Resource {
  const { spec, status } = definition
  const names = status.acceptedNames
  const { group } = spec
  const schema = new StructuralSchema(schemaOf(version) ?? {})
  const type = typeName(definition, version.name)
  const hasStatus = version.subresources?.status !== undefined
  const { scale } = version.subresources ?? {}
  const fields = selectableFields(version)
  const isTerminating = definition.metadata.deletionTimestamp !== undefined
  const warned = new WeakMap<object, string[]>()
  /** Runs the rules in steps, and keeps the warnings until they are asked for. */
  function* withWarnings(object: KubeObject, rules: Generator<void, Judgement>): Generator<void, FieldError[]> {
    const { errors, warnings } = yield* rules
    const texts = warnings.map((error) => `${error.field}: ${error.message}`)
    if (texts.length) warned.set(object, texts)
    return errors
  }
  const validateInSteps: Resource['validateInSteps'] = (object, old, found) => {
    const rules = schema.evaluateRules(object, old, found)
    return rules && withWarnings(object, rules)
  }
  const statusOf = (object: KubeObject) => (object as WithStatus).status
  const warningsOf = (object: KubeObject) => warned.get(object) ?? []
  const resource: Resource = {
    group,
    version: version.name,
    kind: names.kind,
    plural: names.plural,
    ...(names.listKind ? { listKind: names.listKind } : {}),
    ...(version.deprecated ? { deprecationWarning: deprecationWarning(definition, version) } : {}),
    ...(names.singular ? { singular: names.singular } : {}),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    type,
    objectType: customType(type, schema),
    isCustom: true,
    schemaTag: `${definition.metadata.uid}/${definition.metadata.generation}`,
    verbs,
    nameRule: subdomainName,
    allowUnconditionalUpdate: false,
    generation: { changed: (object, old) => !deepEqual(wanted(object, hasStatus), wanted(old, hasStatus)) },
    columns: columnsOf(version.additionalPrinterColumns),
    ...(fields ? { selectableFields: fields } : {}),
    defaults: (object) => schema.fillIn(object),
    prepareForCreate(object) {
      if (isTerminating) {
        const why = 'create not allowed while custom resource definition is terminating'
        throw forbiddenError({ group, resource: names.plural }, object.metadata.name ?? '', why)
      }
      if (hasStatus) delete (object as WithStatus).status
    },
    prepareForUpdate(object) {
      if (hasStatus && statusOf(object) === undefined) delete (object as WithStatus).status
    },
    validate: (object) => [
      ...schema.validate(object),
      ...(scale ? scaleErrors(object, scale) : []),
      ...schema.validateEmbedded(object),
      ...schema.validateLists(object),
    ],
    validateUpdate: (object, old) => [
      ...schema.validate(object, old),
      ...(scale ? scaleErrors(object, scale) : []),
      ...schema.validateEmbedded(object),
      ...schema.validateLists(object, old),
    ],
    validateInSteps,
    warnings: (object, old) => [...finalizerWarnings(object.metadata, old?.metadata), ...warningsOf(object)],
  }
  if (hasStatus) {
    resource.status = {
      prepare(object, old) {
        const given = statusOf(object)
        for (const name in object) if (name !== 'metadata') delete (object as unknown as Record<string, unknown>)[name]
        Object.assign(object, { ...old, metadata: object.metadata })
        delete (object as WithStatus).status
        if (given !== undefined) (object as WithStatus).status = given
        keepMetadata(object, old)
      },
      // Embedded resources are validated only in updates of the whole object.
      validate: (object, old) => [
        ...schema.validateStatus(statusOf(object), statusOf(old)),
        ...(scale ? scaleStatusErrors(object, scale) : []),
        ...schema.validateLists(object, old),
      ],
      // Rules see the whole object, since a rule of the root may compare the status with the spec.
      validateInSteps,
      warnings: warningsOf,
    }
  }
  if (scale) resource.scale = scaleMapping(scale)
  return resource
}

/** Stores objects of a version as another, by that version's schema. */
export function storedAs(resource: Resource, storage: Resource): Resource {
  return {
    ...resource,
    storedAs: {
      group: storage.group,
      version: storage.version,
      plural: storage.plural,
      toStored: (object) => readAs(storage, object),
      fromStored: (object) => readAs(resource, object),
    },
  }
}
