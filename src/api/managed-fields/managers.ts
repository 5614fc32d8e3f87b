import type { ManagedFieldsEntry } from '../generated/types.ts'
import type { KubeObject } from '../object.ts'
import { type FieldSet, isEmptySet, isFieldSet } from './field-set.ts'

export type Operation = 'Apply' | 'Update'

/** A field manager: one entry of metadata.managedFields. */
export interface Manager {
  readonly manager: string
  readonly operation: Operation
  readonly apiVersion: string
  /** '' for the object itself. */
  readonly subresource: string
}

/** A manager with its fields. */
export interface Owner extends Manager {
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** True for the same manager. An applier has one entry, whatever the API version of its last configuration. */
export const isSameManager = (a: Manager, b: Manager): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion)

/** True for the same manager in the same API version. */
export const isSameEntry = (a: Manager, b: Manager): boolean => isSameManager(a, b) && a.apiVersion === b.apiVersion

/**
 * Decodes metadata.managedFields; undefined if an entry is invalid. Stored entries were validated when they were
 * written.
 */
export function decodeOwners(
  entries: readonly ManagedFieldsEntry[] | undefined,
  isStored = false,
): Owner[] | undefined {
  const owners: Owner[] = []
  for (const entry of entries ?? []) {
    const { manager = '', operation, apiVersion = '', subresource = '', time, fieldsType, fieldsV1 = {} } = entry
    if (operation !== 'Apply' && operation !== 'Update') return undefined
    if (!isStored && (fieldsType !== 'FieldsV1' || !isFieldSet(fieldsV1))) return undefined
    owners.push({ manager, operation, apiVersion, subresource, time: time ?? undefined, fields: fieldsV1 })
  }
  return owners
}

/** Encodes metadata.managedFields in Kubernetes' order: applies first, then by time and name. */
export function encodeOwners(owners: readonly Owner[]): ManagedFieldsEntry[] {
  return owners.toSorted(compareOwners).map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
    manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...(subresource ? { subresource } : {}),
  }))
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Kubernetes' order of entries. */
export function compareOwners(a: Owner, b: Owner): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTexts(a.time ?? '', b.time ?? '') ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  )
}

/** True for a request to reset all managers: an empty list, or a list with one empty entry. */
export function isReset(entries: readonly ManagedFieldsEntry[] | null | undefined): boolean {
  if (!entries) return false
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0]!).length === 0)
}

/** The same entry with other fields. */
export const withOtherFields = (
  { manager, operation, apiVersion, subresource, time }: Owner,
  fields: FieldSet,
): Owner => ({ manager, operation, apiVersion, subresource, time, fields })

/** Managers with at least one field. */
export const withFields = (owners: readonly Owner[]): Owner[] => owners.filter(({ fields }) => !isEmptySet(fields))

/** The default name of a manager: the printable part of the user agent before the first slash. */
export function managerOfAgent(userAgent: string | undefined): string {
  const name = (userAgent ?? '').split('/', 1)[0]!
  const printable = /[\p{C}\p{Z}]/u.test(name.replaceAll(' ', '')) ? name.replace(/(?! )[\p{C}\p{Z}]/gu, '') : name
  return printable.slice(0, 128) || 'unknown'
}

/** The object with managedFields, as clients see it. The object itself if it has no managers. */
export function withManagedFields<T extends KubeObject>(object: T, owners: readonly Owner[]): T {
  return owners.length === 0
    ? object
    : { ...object, metadata: { ...object.metadata, managedFields: encodeOwners(owners) } }
}
