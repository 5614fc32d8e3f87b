import type { ManagedFieldsEntry } from '../generated/types.ts'
import { type FieldSet, emptySet, isEmptySet, isFieldSet, sameSet } from './field-set.ts'

export type Operation = 'Apply' | 'Update'

/** Who manages fields: one entry of metadata.managedFields. */
export interface Manager {
  readonly manager: string
  readonly operation: Operation
  readonly apiVersion: string
  /** '' for the object itself. */
  readonly subresource: string
}

/** A manager with what it manages. */
export interface Owner extends Manager {
  readonly time: string | undefined
  readonly fields: FieldSet
}

export const isSameManager = (a: Manager, b: Manager): boolean =>
  a.manager === b.manager && a.operation === b.operation && a.apiVersion === b.apiVersion && a.subresource === b.subresource

/**
 * Sets by their text. A thousand pods of one ReplicaSet have the same, and share one. Bounded, so that nobody can fill the
 * memory through it.
 */
const shared = new Map<string, FieldSet>()
const maxShared = 4096
const longSet = 8192

/** The one copy of a set. */
export function sharedSet(set: FieldSet): FieldSet {
  const text = JSON.stringify(set)
  const known = shared.get(text)
  if (known) return known
  if (text.length > longSet) return set
  if (shared.size >= maxShared) shared.clear()
  shared.set(text, set)
  return set
}

/** Reads metadata.managedFields; undefined where an entry is not as it must be. What is stored was checked when it was written. */
export function decodeOwners(entries: readonly ManagedFieldsEntry[] | undefined, isStored = false): Owner[] | undefined {
  const owners: Owner[] = []
  for (const entry of entries ?? []) {
    const { manager = '', operation, apiVersion = '', subresource = '', time, fieldsType, fieldsV1 = {} } = entry
    if (operation !== 'Apply' && operation !== 'Update') return undefined
    if (!isStored && (fieldsType !== 'FieldsV1' || !isFieldSet(fieldsV1))) return undefined
    owners.push({ manager, operation, apiVersion, subresource, time: time ?? undefined, fields: fieldsV1 })
  }
  return owners
}

/** Writes metadata.managedFields in Kubernetes' order: applies first, then by time and name. */
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

function compareOwners(a: Owner, b: Owner): number {
  return (
    compareTexts(a.operation, b.operation) || compareTexts(a.time ?? '', b.time ?? '') || compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) || compareTexts(a.subresource, b.subresource)
  )
}

/** A request to forget all managers: an empty list, or one of a single empty entry. */
export function isReset(entries: readonly ManagedFieldsEntry[] | null | undefined): boolean {
  if (!entries) return false
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0]!).length === 0)
}

/** True if two lists of managers differ in nothing but their times. */
export function isSameButForTimes(a: readonly ManagedFieldsEntry[] = [], b: readonly ManagedFieldsEntry[] = []): boolean {
  const texts = (entries: readonly ManagedFieldsEntry[]) => entries.map((e) => `${e.operation} ${e.manager} ${e.apiVersion} ${e.subresource ?? ''}`)
  if (a.length !== b.length) return false
  const others = new Map(texts(b).map((text, i) => [text, b[i]!]))
  return texts(a).every((text, i) => {
    const other = others.get(text)
    return other !== undefined && sameSet((a[i]!.fieldsV1 ?? emptySet) as FieldSet, (other.fieldsV1 ?? emptySet) as FieldSet)
  })
}

/** Managers who still manage something. */
export const withFields = (owners: readonly Owner[]): Owner[] => owners.filter(({ fields }) => !isEmptySet(fields))

/** The name of a manager who names none: the first part of the user agent, as far as it is printable. */
export function managerOfAgent(userAgent: string | undefined): string {
  const name = (userAgent ?? '').split('/', 1)[0]!
  const printable = /[\p{C}\p{Z}]/u.test(name.replaceAll(' ', '')) ? name.replace(/(?! )[\p{C}\p{Z}]/gu, '') : name
  return printable.slice(0, 128) || 'unknown'
}
