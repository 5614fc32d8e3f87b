import { deepEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from '../../../api/generated/types.ts'
import { kindNames } from '../../../api/kind-names.ts'
import type { Json } from '../../../api/object.ts'
import { type ObjectType, builtInType } from '../../../api/object-type.ts'
import { decodeObject } from '../../../api/schema/index.ts'
import { unrecognizedFormats } from '../../../api/structural/index.ts'
import { notSupported } from '../../../api/validation/field-error.ts'
import { type FieldError, forbidden, invalid, required } from '../../../api/validation/field-error.ts'
import { isDns1035Label, isDns1123Subdomain, pathSegmentName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { validateClientConfig } from '../admissionregistration/client-config.ts'
import { keepAllButStatus } from '../kept-metadata.ts'
import { approvalErrors } from './approval.ts'
import { missingNames, nameErrors } from './names.ts'
import { hoistedErrors, schemaOf, versionErrors } from './versions.ts'

/** The finalizer that keeps a definition until its instances are deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

const specPath = Path.of('spec')
const storedPath = Path.of('status', 'storedVersions')
/** Schemas contain values of any type, which protobuf cannot express: definitions have no protobuf form. */
const { protobufType: _protobufType, ...base } = builtInType('CustomResourceDefinition')

/** Decodes nested schemas where the models are untyped. */
function readNested(schema: { [key: string]: Json } | undefined): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const name of ['items', 'additionalProperties', 'additionalItems']) {
    const part = schema[name]
    if (typeof part !== 'object' || part === null || Array.isArray(part)) continue
    schema[name] = decodeObject('JSONSchemaProps', part, { isOwned: true }).object
    readNested(schema[name] as { [key: string]: Json })
  }
  for (const name of ['allOf', 'anyOf', 'oneOf'])
    for (const part of (schema[name] as Json[] | undefined) ?? []) readNested(part as never)
  for (const name of ['properties', 'patternProperties', 'definitions']) {
    for (const part of Object.values((schema[name] as object | undefined) ?? {})) readNested(part as never)
  }
  readNested(schema.not as never)
}

const definitionType: ObjectType = {
  ...base,
  decode(value, options) {
    const sent = (value as { spec?: { versions?: unknown } } | null)?.spec?.versions
    const isEmptyList = Array.isArray(sent) && sent.length === 0
    const decoded = base.decode(value, options)
    const { spec } = decoded.object as unknown as CustomResourceDefinition
    if (isEmptyList) spec.versions = []
    for (const version of spec.versions ?? []) readNested(version.schema?.openAPIV3Schema as never)
    return decoded
  },
}

function groupErrors(group: string): FieldError[] {
  const path = specPath.child('group')
  if (group === '') return [required(path)]
  const problems = isDns1123Subdomain(group)
  if (problems.length) return [invalid(path, group, problems.join())]
  return group.includes('.') ? [] : [invalid(path, group, 'should be a domain with at least one dot')]
}

function scopeErrors(scope: string): FieldError[] {
  const path = specPath.child('scope')
  if (scope === '') return [required(path)]
  return scope === 'Cluster' || scope === 'Namespaced' ? [] : [notSupported(path, scope, ['Cluster', 'Namespaced'])]
}

const knownReviews = ['v1', 'v1beta1']

/** A definition whose versions were all unknown before may keep it that way. */
function reviewVersionErrors(versions: readonly string[], path: Path, before: readonly string[] = []): FieldError[] {
  if (versions.length === 0) return [required(path)]
  const errors = versions.flatMap((version, i) => {
    if (versions.indexOf(version) < i) return [invalid(path.index(i), version, 'duplicate version')]
    return isDns1035Label(version).map((problem) => invalid(path.index(i), version, problem))
  })
  const isKnown = (version: string) => knownReviews.includes(version)
  if (versions.some(isKnown) || (before.length > 0 && !before.some(isKnown))) return errors
  return [...errors, invalid(path, versions, `must include at least one of ${knownReviews.join(', ')}`)]
}

function conversionErrors({ spec }: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  const before = old?.spec.conversion?.webhook?.conversionReviewVersions
  const { strategy = '', webhook } = spec.conversion ?? {}
  const path = specPath.child('conversion')
  if (strategy === 'Webhook') {
    const client = path.child('webhookClientConfig')
    return [
      ...(webhook?.clientConfig
        ? validateClientConfig(webhook.clientConfig, client)
        : [required(client, 'required when strategy is set to Webhook')]),
      ...reviewVersionErrors(webhook?.conversionReviewVersions ?? [], path.child('conversionReviewVersions'), before),
    ]
  }
  const saying = 'should not be set when strategy is not set to Webhook'
  return [
    ...(strategy === '' ? [required(path.child('strategy'))] : []),
    ...(strategy === 'None' || strategy === ''
      ? []
      : [notSupported(path.child('strategy'), strategy, ['None', 'Webhook'])]),
    ...(webhook?.clientConfig ? [forbidden(path.child('webhookClientConfig'), saying)] : []),
    ...(webhook?.conversionReviewVersions?.length ? [forbidden(path.child('conversionReviewVersions'), saying)] : []),
  ]
}

function nameError({ metadata: { name = '' }, spec }: CustomResourceDefinition): FieldError[] {
  if (name === `${spec.names.plural}.${spec.group}` || isDns1123Subdomain(name).length) return []
  return [invalid(Path.of('metadata', 'name'), name, 'must be spec.names.plural+"."+spec.group')]
}

function specErrors(definition: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  const { spec } = definition
  const names = specPath.child('names')
  const isKeeping = spec.preserveUnknownFields === true
  return [
    ...groupErrors(spec.group),
    ...scopeErrors(spec.scope),
    ...(isKeeping ? [invalid(specPath.child('preserveUnknownFields'), true, 'must be false')] : []),
    ...versionErrors(definition),
    ...missingNames(spec.names, names),
    ...nameErrors(spec.names, names),
    ...hoistedErrors(definition),
    ...conversionErrors(definition, old),
  ]
}

function storedErrors({ spec, status }: CustomResourceDefinition): FieldError[] {
  const stored = status.storedVersions ?? []
  const versions = spec.versions ?? []
  if (stored.length === 0)
    return [invalid(storedPath, status.storedVersions ?? null, 'must have at least one stored version')]
  const errors = stored.flatMap((name, i) => {
    if (versions.some((version) => version.name === name)) return []
    const stays = `${name} was previously a storage version, and must remain in spec.versions until a storage migration`
    return [
      invalid(
        storedPath.index(i),
        name,
        `missing from spec.versions; ${stays} ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
      ),
    ]
  })
  const last = versions.filter((version) => version.storage).at(-1)
  if (last && !stored.includes(last.name))
    errors.push(invalid(storedPath, stored, `must have the storage version ${last.name}`))
  return errors
}

const validate = (definition: CustomResourceDefinition): FieldError[] => [
  ...nameError(definition),
  ...specErrors(definition),
  ...storedErrors(definition),
  ...approvalErrors(definition),
]

export const isTrue = ({ status }: CustomResourceDefinition, type: string): boolean =>
  status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false

function immutableErrors(definition: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const { spec } = definition
  const was = old.spec
  const kept = (path: Path, value: unknown, before: unknown) =>
    deepEqual(value, before) ? [] : [invalid(path, value, 'field is immutable')]
  return [
    ...(isTrue(old, 'Established')
      ? [
          ...kept(specPath.child('scope'), spec.scope, was.scope),
          ...kept(specPath.child('names', 'kind'), spec.names.kind, was.names.kind),
        ]
      : []),
    ...kept(specPath.child('group'), spec.group, was.group),
    ...kept(specPath.child('names', 'plural'), spec.names.plural, was.names.plural),
  ]
}

/** Sets a condition and keeps its index. lastTransitionTime is kept if the status is unchanged. */
export function withCondition(definition: CustomResourceDefinition, said: CustomResourceDefinitionCondition): void {
  const conditions = definition.status.conditions ?? []
  const at = conditions.findIndex(({ type }) => type === said.type)
  const known = conditions[at]
  const isSame = known?.status === said.status
  const next = isSame ? { ...said, lastTransitionTime: known.lastTransitionTime } : said
  definition.status = {
    ...definition.status,
    conditions: at < 0 ? [...conditions, next] : conditions.map((condition, i) => (i === at ? next : condition)),
  }
}

const storageOf = ({ spec }: CustomResourceDefinition) => (spec.versions ?? []).find((version) => version.storage)?.name

const columns: Column<CustomResourceDefinition>[] = [
  nameColumn(),
  {
    name: 'Created At',
    type: 'date',
    description: () => describeField('ObjectMeta', 'creationTimestamp'),
    cell: ({ metadata }) => metadata.creationTimestamp ?? null,
  },
]

export const customresourcedefinitions = defineResource<CustomResourceDefinition>({
  ...kindNames.customresourcedefinitions,
  objectType: definitionType,
  nameRule: pathSegmentName,
  allowUnconditionalUpdate: false,
  generation: true,
  columns,
  defaults({ spec }) {
    const { names } = spec
    if (!names.singular && names.kind) names.singular = names.kind.toLowerCase()
    if (!names.listKind && names.kind) names.listKind = `${names.kind}List`
    spec.conversion ??= { strategy: 'None' }
    const { service } = spec.conversion.webhook?.clientConfig ?? {}
    if (service) service.port ??= 443
  },
  prepareForCreate(definition) {
    const storage = storageOf(definition)
    definition.status = {
      acceptedNames: { kind: '', plural: '' },
      conditions: null as never,
      storedVersions: storage === undefined ? (null as never) : [storage],
    }
  },
  prepareForUpdate(definition) {
    const storage = storageOf(definition)
    const stored = definition.status.storedVersions ?? []
    if (storage !== undefined && !stored.includes(storage)) {
      definition.status = { ...definition.status, storedVersions: [...stored, storage] }
    }
  },
  validate,
  validateUpdate: (definition, old) => [
    ...specErrors(definition, old),
    ...immutableErrors(definition, old),
    ...storedErrors(definition),
  ],
  warnings({ spec }) {
    const formats = (spec.versions ?? []).flatMap((version) => unrecognizedFormats(schemaOf(version) ?? {}))
    return [...new Set(formats)].map((format) => `unrecognized format ${JSON.stringify(format)}`)
  },
  status: {
    prepare(definition, old) {
      keepAllButStatus(definition, old)
      if (!definition.status.storedVersions?.length) {
        definition.status = { ...definition.status, storedVersions: old.status.storedVersions }
      }
    },
    validate: storedErrors,
  },
  beginDeletion(definition) {
    const { metadata } = definition
    metadata.finalizers = [...(metadata.finalizers ?? []).filter((name) => name !== cleanupFinalizer), cleanupFinalizer]
    delete metadata.deletionGracePeriodSeconds
    // A deletion does not change the desired state.
    if (metadata.generation) metadata.generation = Number(metadata.generation) - 1
    withCondition(definition, {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      lastTransitionTime: metadata.deletionTimestamp!,
    })
  },
  isHeld: ({ metadata }) => metadata.finalizers?.includes(cleanupFinalizer) ?? false,
})
