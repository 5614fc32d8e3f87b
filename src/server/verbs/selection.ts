import { badRequest } from '../../api/errors.ts'
import { type FieldRequirement, parseFieldSelector } from '../../api/selectors/parse-field-selector.ts'
import {
  type LabelRequirement,
  parseLabelRequirements,
  parseLabelSelector,
} from '../../api/selectors/parse-label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Registered } from '../registry/registry.ts'
import type { ResourceRequest } from '../requests/request.ts'
import type { WantedField } from '../objects/cache-listeners.ts'
import type { StoredObject } from '../objects/stored-object.ts'

/** The objects that a list, watch or deletecollection selects. */
export interface Selection {
  /** The collection's prefix, which continue tokens omit. */
  base: string
  /** The prefix of selected keys. */
  prefix: string
  /** Undefined if every key under the prefix is selected. */
  matches: ((stored: StoredObject) => boolean) | undefined
  /** The field and value that `matches` requires, if it requires one. */
  wanted?: WantedField | undefined
}

type ReadField = (o: KubeObject) => string

const metadataFields: Record<string, ReadField> = {
  'metadata.name': (o) => o.metadata.name ?? '',
  'metadata.namespace': (o) => o.metadata.namespace ?? '',
}

const onlyMetadata = (field: string) =>
  badRequest(`${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`)

/** The value of a field that all kinds support in field selectors. */
function readField(field: string): ReadField {
  if (!Object.hasOwn(metadataFields, field)) throw onlyMetadata(field)
  return metadataFields[field]!
}

function fieldReader(target: Registered, field: string): ReadField {
  for (const fields of [metadataFields, target.resource.selectableFields ?? {}])
    if (Object.hasOwn(fields, field)) return fields[field]!
  throw unknownField(target, field)
}

/** The error for an unsupported field. Kinds with their own selectable fields have a different message. */
function unknownField(target: Registered, field: string): Error {
  if (target.resource.kind === 'Job') return badRequest(`field label ${JSON.stringify(field)} not supported for Job`)
  if (target.resource.selectableFields) return badRequest(`field label not supported: ${field}`)
  return onlyMetadata(field)
}

/**
 * Fields whose selected value is contained verbatim in an object's bytes: strings that are neither defaulted nor
 * computed.
 */
const literalFields = new Set([
  'metadata.name',
  'metadata.namespace',
  'spec.nodeName',
  'involvedObject.name',
  'involvedObject.uid',
])

/** Label operators that require the label to exist. */
const wantingLabels = new Set<LabelRequirement['operator']>(['=', '==', 'in', 'exists', 'gt', 'lt'])

/**
 * Texts that the bytes of every matching object contain. An object without one of them need not be decoded; decoding
 * costs fifty times as much as a search in its bytes.
 */
export function neededTexts(labels: readonly LabelRequirement[], fields: readonly FieldRequirement[]): Buffer[] {
  const texts: string[] = []
  for (const { key, operator, values } of labels) {
    if (!wantingLabels.has(operator)) continue
    const isOne = values.length === 1 && operator !== 'gt' && operator !== 'lt'
    texts.push(isOne ? `${JSON.stringify(key)}:${JSON.stringify(values[0])}` : JSON.stringify(key))
  }
  for (const { field, operator, value } of fields) {
    if (operator === '=' && literalFields.has(field) && /^[\w.:-]+$/.test(value)) texts.push(JSON.stringify(value))
  }
  return texts.map((text) => Buffer.from(text))
}

/** Parses the selectors of a query. */
export function selectionOf(request: ResourceRequest): Selection {
  const { target, namespace, query } = request
  const { resource, storage } = target
  const base = resource.namespaced && namespace ? `${storage.prefix}${namespace}/` : storage.prefix
  const labelText = query.get('labelSelector') ?? ''
  const fieldText = query.get('fieldSelector') ?? ''
  const byLabel = labelText === '' ? undefined : parseLabelSelector(labelText)
  const fields = fieldText === '' ? undefined : parseFieldSelector(fieldText)
  let prefix = base
  const readers = new Map((fields?.requirements ?? []).map(({ field }) => [field, fieldReader(target, field)]))
  const names = fields?.requirements.filter((r) => r.field === 'metadata.name' && r.operator === '=') ?? []
  // A name selector finds the object by its key. The matcher still compares the whole name.
  if (names[0] && (!resource.namespaced || namespace)) prefix = base + names[0].value
  if (!byLabel && !fields) return { base, prefix, matches: undefined }
  const present = resource.storedAs?.fromStored
  const needed = neededTexts(labelText === '' ? [] : parseLabelRequirements(labelText), fields?.requirements ?? [])
  // Names are part of the key, and fields that exist only after a conversion cannot be indexed.
  const one =
    present || resource.conversion
      ? undefined
      : fields?.requirements.find(({ field, operator }) => operator === '=' && !Object.hasOwn(metadataFields, field))
  return {
    base,
    prefix,
    wanted: one && { name: one.field, value: one.value, read: readers.get(one.field)! },
    matches: (stored) => {
      for (const text of needed) if (!stored.mayHold(text)) return false
      const { object } = stored
      if (byLabel && !byLabel(object.metadata.labels)) return false
      if (!fields) return true
      const shown = present ? present(object) : object
      return fields.matches((field) => readers.get(field)!(shown))
    },
  }
}

/** A predicate for objects that are not stored, by labels, name and namespace. */
export function objectSelector(query: URLSearchParams): (object: KubeObject) => boolean {
  const byLabel = parseLabelSelector(query.get('labelSelector') ?? '')
  const byField = parseFieldSelector(query.get('fieldSelector') ?? '')
  const readers = new Map(byField.requirements.map(({ field }) => [field, readField(field)]))
  return (object) => byLabel(object.metadata.labels) && byField.matches((field) => readers.get(field)!(object))
}
