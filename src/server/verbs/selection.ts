import { badRequest } from '../../api/errors.ts'
import { type FieldRequirement, parseFieldSelector } from '../../api/selectors/parse-field-selector.ts'
import { type LabelRequirement, parseLabelRequirements, parseLabelSelector } from '../../api/selectors/parse-label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Registered } from '../registry/registry.ts'
import type { ResourceRequest } from '../requests/request.ts'
import type { StoredObject } from '../objects/stored-object.ts'

/** Which objects a list, watch or delete of a collection is about. */
export interface Selection {
  /** The collection's own prefix, which continue tokens leave out. */
  base: string
  /** Keys start with this. */
  prefix: string
  /** Undefined where every key under the prefix is meant. */
  matches: ((stored: StoredObject) => boolean) | undefined
}

type ReadField = (o: KubeObject) => string

const metadataFields: Record<string, ReadField> = {
  'metadata.name': (o) => o.metadata.name ?? '',
  'metadata.namespace': (o) => o.metadata.namespace ?? '',
}

const onlyMetadata = (field: string) => badRequest(`${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`)

/** Reads a field that objects of every kind can be chosen by. */
export function readField(field: string): ReadField {
  if (!Object.hasOwn(metadataFields, field)) throw onlyMetadata(field)
  return metadataFields[field]!
}

function fieldReader(target: Registered, field: string): ReadField {
  for (const fields of [metadataFields, target.resource.selectableFields ?? {}]) if (Object.hasOwn(fields, field)) return fields[field]!
  throw unknownField(target, field)
}

/** How a kind refuses a field it does not know: kinds with fields of their own say it in other words. */
function unknownField(target: Registered, field: string): Error {
  if (target.resource.kind === 'Job') return badRequest(`field label ${JSON.stringify(field)} not supported for Job`)
  if (target.resource.selectableFields) return badRequest(`field label not supported: ${field}`)
  return onlyMetadata(field)
}

/** Fields that stand in an object's bytes as they are selected by: texts, neither defaulted nor computed. */
const literalFields = new Set(['metadata.name', 'metadata.namespace', 'spec.nodeName', 'involvedObject.name', 'involvedObject.uid'])

/** Labels that must be there for an object to be meant. */
const wantingLabels = new Set<LabelRequirement['operator']>(['=', '==', 'in', 'exists', 'gt', 'lt'])

/**
 * Texts that stand in the bytes of every object that is meant. An object that nobody has looked at yet need not be
 * decoded if it lacks one: that costs fifty times as much as to search its bytes.
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

/** Reads the selectors of a query. */
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
  // One object by name is found by its key; the matcher below still compares the whole name.
  if (names[0] && (!resource.namespaced || namespace)) prefix = base + names[0].value
  if (!byLabel && !fields) return { base, prefix, matches: undefined }
  const present = resource.storedAs?.fromStored
  const needed = neededTexts(labelText === '' ? [] : parseLabelRequirements(labelText), fields?.requirements ?? [])
  return {
    base,
    prefix,
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

/** True if an object that is not stored is asked for, by its labels, name and namespace. */
export function objectSelector(query: URLSearchParams): (object: KubeObject) => boolean {
  const byLabel = parseLabelSelector(query.get('labelSelector') ?? '')
  const byField = parseFieldSelector(query.get('fieldSelector') ?? '')
  const readers = new Map(byField.requirements.map(({ field }) => [field, readField(field)]))
  return (object) => byLabel(object.metadata.labels) && byField.matches((field) => readers.get(field)!(object))
}
