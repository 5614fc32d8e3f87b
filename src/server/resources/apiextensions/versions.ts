import { deepEqual } from '../../../api/deep-equal.ts'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  SelectableField,
} from '../../../api/generated/types.ts'
import { checkSchemaRules } from '../../../api/cel/index.ts'
import {
  type Schema,
  defaultErrors,
  schemaErrors,
  selectablePathProblem,
  statusRootErrors,
  structuralErrors,
} from '../../../api/structural/index.ts'
import { type FieldError, duplicate, invalid, required, tooMany } from '../../../api/validation/field-error.ts'
import { isDns1035Label } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'

const specPath = Path.of('spec')

/** The schema of a version, if any. */
export const schemaOf = (version: CustomResourceDefinitionVersion): Schema | undefined =>
  version.schema?.openAPIV3Schema as Schema | undefined

/**
 * True if all versions have the same value of a field. Kubernetes' internal form hoists such fields, and errors have
 * the hoisted path: `spec.validation` instead of `spec.versions[0].schema`.
 */
function isHoisted(
  versions: readonly CustomResourceDefinitionVersion[],
  field: keyof CustomResourceDefinitionVersion,
): boolean {
  const first = versions[0]?.[field]
  return first !== undefined && versions.every((version) => deepEqual(version[field], first))
}

/** Formats versions as Kubernetes quotes them in errors. */
function quoted(versions: readonly CustomResourceDefinitionVersion[] | null | undefined): unknown {
  if (!versions) return null
  const unless = (field: keyof CustomResourceDefinitionVersion, version: CustomResourceDefinitionVersion) =>
    isHoisted(versions, field) ? null : (version[field] ?? null)
  return versions.map((version) => ({
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: unless('schema', version),
    Subresources: unless('subresources', version),
    AdditionalPrinterColumns: unless('additionalPrinterColumns', version),
    SelectableFields: unless('selectableFields', version),
  }))
}

const hasStatus = ({ subresources }: CustomResourceDefinitionVersion): boolean => subresources?.status !== undefined

/** The errors of the list of versions, and of fields that are not hoisted. */
export function versionErrors({ spec }: CustomResourceDefinition): FieldError[] {
  const versions = spec.versions ?? []
  const at = specPath.child('versions')
  const errors = versions.flatMap((version, i) => versionError(version, at.index(i)))
  const names = new Set(versions.map((version) => version.name))
  if (names.size < versions.length) errors.push(invalid(at, quoted(spec.versions), 'must contain unique version names'))
  if (versions.filter((version) => version.storage).length !== 1) {
    errors.push(invalid(at, quoted(spec.versions), 'must have exactly one version marked as storage version'))
  }
  for (const [i, version] of versions.entries()) {
    if (!isHoisted(versions, 'schema'))
      errors.push(...validationErrors(version, at.index(i).child('schema'), hasStatus(version)))
    if (!isHoisted(versions, 'subresources'))
      errors.push(...subresourceErrors(version.subresources, at.index(i).child('subresources')))
    if (!isHoisted(versions, 'additionalPrinterColumns'))
      errors.push(...columnErrors(version.additionalPrinterColumns, at.index(i)))
    if (!isHoisted(versions, 'selectableFields')) errors.push(...selectableErrors(version, at.index(i)))
  }
  return errors
}

/** The errors of hoisted fields. */
export function hoistedErrors({ spec }: CustomResourceDefinition): FieldError[] {
  const versions = spec.versions ?? []
  const first = versions[0]
  if (!first) return []
  return [
    ...(isHoisted(versions, 'schema')
      ? validationErrors(first, specPath.child('validation'), versions.some(hasStatus))
      : []),
    ...(isHoisted(versions, 'subresources')
      ? subresourceErrors(first.subresources, specPath.child('subresources'))
      : []),
    ...(isHoisted(versions, 'additionalPrinterColumns') ? columnErrors(first.additionalPrinterColumns, specPath) : []),
    ...(isHoisted(versions, 'selectableFields') ? selectableErrors(first, specPath) : []),
  ]
}

function versionError(version: CustomResourceDefinitionVersion, path: Path): FieldError[] {
  const { name, deprecationWarning: warning } = version
  const at = path.child('deprecationWarning')
  const problems = isDns1035Label(name)
  const errors = problems.length ? [invalid(path.child('name'), name, problems.join())] : []
  if (warning === undefined) return errors
  if (!version.deprecated) return [...errors, invalid(at, warning, 'can only be set for deprecated versions')]
  if (Buffer.byteLength(warning) > 256) errors.push(invalid(at, warning, 'must be <= 256 characters long'))
  if (warning === '') errors.push(invalid(at, warning, 'must not be an empty string'))
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning)
  if (unprintable) {
    const index = Buffer.byteLength(warning.slice(0, unprintable.index))
    const saying = `must only contain printable UTF-8 characters; non-printable character found at index ${index}`
    errors.push(invalid(at, warning, saying))
  }
  return errors
}

function validationErrors(version: CustomResourceDefinitionVersion, path: Path, hasStatus: boolean): FieldError[] {
  const at = path.child('openAPIV3Schema')
  const schema = schemaOf(version)
  if (!schema) return [required(Path.of('spec', 'versions').index(0).child('schema', 'openAPIV3Schema'))]
  const errors = [
    ...(hasStatus ? statusRootErrors(schema, at) : []),
    ...schemaErrors(schema, at),
    ...structuralErrors(schema, at),
  ]
  return errors.length ? errors : [...checkSchemaRules(schema, at), ...defaultErrors(schema, at)]
}

function subresourceErrors(subresources: CustomResourceSubresources | undefined, path: Path): FieldError[] {
  const scale = subresources?.scale
  if (!scale) return []
  const at = path.child('scale')
  return [
    ...pathErrors(scale.specReplicasPath, 'spec', at.child('specReplicasPath'), true),
    ...pathErrors(scale.statusReplicasPath, 'status', at.child('statusReplicasPath'), true),
    ...pathErrors(scale.labelSelectorPath ?? '', 'status', at.child('labelSelectorPath'), false),
  ]
}

function pathErrors(text: string, under: string, path: Path, isRequired: boolean): FieldError[] {
  if (text === '') return isRequired ? [required(path)] : []
  if (!text.startsWith('.')) return [invalid(path, text, 'must be a simple json path starting with .')]
  if (text.startsWith(`.${under}.`)) return []
  // The selector path may also be in the spec.
  if (!isRequired && text.startsWith('.spec.')) return []
  return [invalid(path, text, `should be a json path under .${under}`)]
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

function columnErrors(columns: readonly CustomResourceColumnDefinition[] | undefined, path: Path): FieldError[] {
  return (columns ?? []).flatMap((column, i) => {
    const at = path.child('additionalPrinterColumns').index(i)
    const errors: FieldError[] = column.name ? [] : [required(at.child('name'))]
    const types = `must be one of ${columnTypes.join()}`
    if (!column.type) errors.push(required(at.child('type'), types))
    else if (!columnTypes.includes(column.type)) errors.push(invalid(at.child('type'), column.type, types))
    if (column.format && !columnFormats.includes(column.format)) {
      errors.push(invalid(at.child('format'), column.format, `must be one of ${columnFormats.join()}`))
    }
    if (!column.jsonPath) errors.push(required(at.child('JSONPath')))
    else if (!column.jsonPath.startsWith('.')) {
      errors.push(invalid(at.child('JSONPath'), column.jsonPath, 'must be a simple json path starting with .'))
    }
    return errors
  })
}

const mostSelectable = 8

function selectableErrors(version: CustomResourceDefinitionVersion, path: Path): FieldError[] {
  const fields: readonly SelectableField[] = version.selectableFields ?? []
  const seen = new Set<string>()
  const all = path.child('selectableFields')
  const errors = fields.flatMap(({ jsonPath }, i) => {
    const at = all.index(i).child('jsonPath')
    if (!jsonPath) return [required(at)]
    if (seen.has(jsonPath)) return [duplicate(at, jsonPath)]
    const problem = selectablePathProblem(jsonPath, schemaOf(version) ?? {})
    if (problem) return [invalid(at, jsonPath, problem)]
    seen.add(jsonPath)
    return []
  })
  return seen.size > mostSelectable ? [...errors, tooMany(all, seen.size, mostSelectable)] : errors
}
