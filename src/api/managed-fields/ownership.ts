import { addedFields } from './created-fields.ts'
import {
  type FieldSet,
  difference,
  differenceBelow,
  emptySet,
  intersection,
  isEmptySet,
  pathTexts,
  union,
} from './field-set.ts'
import { type Manager, type Owner, isSameManager, withFields, withOtherFields } from './managers.ts'
import type { MergeType } from './merge-type.ts'
import { reconciled } from './reconcile.ts'
import {
  type Comparison,
  compare,
  fieldSetOf,
  merge,
  openSetOf,
  remove,
  withNamedFields,
  withNulls,
} from './typed-value.ts'

/** The maximum number of update managers of an object. The oldest are merged into one. */
const maxUpdaters = 10
const ancient = 'ancient-changes'
const beforeFirstApply = 'before-first-apply'

/** Metadata fields that are never managed. */
const unmanagedMeta = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]
const unmanaged: FieldSet = {
  'f:apiVersion': emptySet,
  'f:kind': emptySet,
  'f:metadata': { '.': emptySet, ...Object.fromEntries(unmanagedMeta.map((name) => [`f:${name}`, emptySet])) },
}

/** The other API versions of a kind, for managers whose fields refer to them. */
export interface OtherVersions {
  /** The merge type of a version; undefined if it is not served. */
  typeOf(apiVersion: string): MergeType | undefined
  /** Converts an object to another version. */
  convert(value: unknown, from: string, to: string): unknown
}

/** The parameters of a write that determine ownership. */
export interface OwnedWrite {
  /** The merge type in the version of the request, `by.apiVersion`. */
  readonly type: MergeType
  readonly by: Manager
  readonly time: string
  /**
   * Top-level fields that this endpoint does not change: the status for the main resource, the spec for the status
   * subresource.
   */
  readonly ignores: ReadonlySet<string>
  /** True for kinds whose types can change, so that the fields of managers may be of an earlier type. */
  readonly hasChangingTypes?: boolean | undefined
  /** Without it, the fields of all managers are compared in the request's version. */
  readonly versions?: OtherVersions | undefined
}

/** The managers of a new object: the sender, unless the object names others. `before` is an empty object. */
export function ownersAfterCreation(write: OwnedWrite, before: unknown, after: unknown): readonly Owner[] {
  const added = addedFields(write.type, before, after, write.ignores)
  let fields = managed.get(added)
  if (!fields) managed.set(added, (fields = difference(added, unmanaged)))
  return withFields([{ ...write.by, time: write.time, fields }])
}

/** The added fields that are managed. */
const managed = new WeakMap<FieldSet, FieldSet>()

/** The managers after a write of the complete object: a create, an update or a patch. */
export function ownersAfterUpdate(
  write: OwnedWrite,
  owners: readonly Owner[],
  before: unknown,
  after: unknown,
): readonly Owner[] {
  const comparison = compare(write.type, before, after, write.ignores)
  const changed = difference(comparison.changed, unmanaged)
  if (isEmptySet(changed) && isEmptySet(comparison.removed)) return owners
  const current = withCurrentTypes(write, owners)
  const left = withoutLost(current, comparedFor(write, before, after, comparison))
  if (isEmptySet(changed)) return withFields(left)
  const known = current.findIndex((o) => isSameManager(o, write.by))
  const fields = known < 0 ? changed : united(current[known]!.fields, comparison.removed, changed)
  const own: Owner = { ...write.by, time: write.time, fields }
  const others = left.filter((o) => !isSameManager(o, write.by))
  return capped(withFields([...others, own]))
}

/** The owners with their fields adapted to the types of their versions. */
function withCurrentTypes(write: OwnedWrite, owners: readonly Owner[]): readonly Owner[] {
  if (!write.hasChangingTypes) return owners
  const { type: own, by, versions } = write
  return owners.map((owner) => {
    const type = !versions || owner.apiVersion === by.apiVersion ? own : versions.typeOf(owner.apiVersion)
    const fields = type ? reconciled(type, owner.fields) : owner.fields
    return fields === owner.fields ? owner : withOtherFields(owner, fields)
  })
}

/** The fields of a manager after its own change. Returns the same set if nothing was added. */
function united(was: FieldSet, removed: FieldSet, changed: FieldSet): FieldSet {
  const left = isEmptySet(removed) ? was : difference(was, removed)
  return union(left, changed)
}

/** The comparison for the fields of a manager, in their version; undefined if that version is not served. */
type Compared = (owner: Owner) => Comparison | undefined

/** Compares once in each version that managers refer to. `own` is the comparison in the request's version. */
function comparedFor(
  { by, versions, ignores }: OwnedWrite,
  before: unknown,
  after: unknown,
  own: Comparison,
): Compared {
  const known = new Map<string, Comparison | undefined>([[by.apiVersion, own]])
  return ({ apiVersion }) => {
    if (!versions || known.has(apiVersion)) return versions ? known.get(apiVersion) : own
    const type = versions.typeOf(apiVersion)
    const there = (value: unknown) =>
      value === undefined ? undefined : versions.convert(value, by.apiVersion, apiVersion)
    const found = type && compare(type, there(before), there(after), ignores)
    known.set(apiVersion, found)
    return found
  }
}

/** Managers without the changed or removed fields. Managers whose version is no longer served lose all fields. */
function withoutLost(owners: readonly Owner[], compared: Compared): Owner[] {
  return owners.flatMap((owner) => {
    const comparison = compared(owner)
    if (!comparison) return []
    const fields = difference(difference(owner.fields, comparison.changed), comparison.removed)
    return fields === owner.fields ? owner : withOtherFields(owner, fields)
  })
}

/** Merges the oldest update managers until the limit is met. */
function capped(owners: Owner[]): Owner[] {
  let count = owners.filter((o) => o.operation === 'Update').length
  if (count <= maxUpdaters) return owners
  const oldestFirst = owners
    .filter((o) => o.operation === 'Update')
    .sort((a, b) =>
      (a.time ?? '') < (b.time ?? '') ? -1 : (a.time ?? '') > (b.time ?? '') ? 1 : a.manager < b.manager ? -1 : 1,
    )
  const firsts = new Map<string, Owner>()
  let out = owners
  for (const owner of oldestFirst) {
    if (count <= maxUpdaters) break
    const first = firsts.get(owner.apiVersion)
    if (!first) {
      firsts.set(owner.apiVersion, owner)
      continue
    }
    const bucket: Manager = { manager: ancient, operation: 'Update', apiVersion: owner.apiVersion, subresource: '' }
    const filled = out.find((o) => isSameManager(o, bucket)) ?? first
    out = out.filter((o) => o !== owner && o !== filled)
    out.push({ ...bucket, time: owner.time, fields: union(filled.fields, owner.fields) })
    count--
  }
  return out
}

/** A field that an apply would change and another manager owns. */
export interface Conflict {
  readonly with: Manager
  readonly path: string
}

export interface Applied {
  /** The merged value; the same object as before if nothing changed. */
  value: unknown
  owners: readonly Owner[]
  conflicts: readonly Conflict[]
}

/**
 * Applies a configuration: merges it, removes fields that this manager applied before and no manager owns now, and
 * updates the managers.
 */
export function applyConfiguration(
  write: OwnedWrite,
  before: readonly Owner[],
  live: unknown,
  config: unknown,
  force: boolean,
): Applied {
  const { type, by } = write
  const isKnown = before.length > 0 || live === undefined
  const owners = isKnown ? withCurrentTypes(write, before) : untrackedOwner(write, live)
  const last = owners.find((o) => isSameManager(o, by))
  const ignored = Object.fromEntries([...write.ignores].map((name) => [`f:${name}`, emptySet]))
  const said = fieldSetOf(type, config)
  const fields = differenceBelow(difference(said, unmanaged), ignored)
  const others = owners.filter((o) => !isSameManager(o, by))
  const merged = merge(type, live, config)
  const isLess =
    last && ((write.versions && last.apiVersion !== by.apiVersion) || !isEmptySet(difference(last.fields, fields)))
  const value = isLess
    ? withNulls(prune(write, merged, last, [...others, { ...by, time: write.time, fields: said }]), config)
    : merged
  const compared = comparedFor(write, live, value, compare(type, live, value, write.ignores))
  const conflicts = force ? [] : conflictsOf(others, compared)
  const own: Owner = { ...by, time: write.time, fields }
  return { value, owners: withFields([...withoutLost(others, compared), own]), conflicts }
}

/** An object without known managers is attributed to a placeholder manager before the first apply. */
function untrackedOwner(write: OwnedWrite, live: unknown): Owner[] {
  const by: Manager = { ...write.by, manager: beforeFirstApply, operation: 'Update' }
  const fields = difference(compare(write.type, {}, live).changed, unmanaged)
  return withFields([{ ...by, time: write.time, fields }])
}

function conflictsOf(owners: readonly Owner[], compared: Compared): Conflict[] {
  return owners.flatMap((owner) => {
    const changed = compared(owner)?.changed ?? emptySet
    return Array.from(pathTexts(intersection(owner.fields, changed)), (path) => ({ with: owner, path }))
  })
}

/**
 * Removes the fields of the last apply that no manager owns now. Each set of fields is evaluated in its own version.
 */
function prune(
  { type: ownType, by, versions }: OwnedWrite,
  merged: unknown,
  last: Owner,
  managers: readonly Owner[],
): unknown {
  const typeOf = (version: string) => (!versions || version === by.apiVersion ? ownType : versions.typeOf(version))
  const lastType = typeOf(last.apiVersion)
  if (!lastType) return merged
  const convert = (value: unknown, from: string, to: string) =>
    versions && from !== to ? versions.convert(value, from, to) : value
  let version = last.apiVersion
  let whole = convert(merged, by.apiVersion, version)
  const was = withNamedFields(lastType, last.fields)
  let pruned = remove(lastType, whole, was)
  const managed = fieldsByVersion(managers, versions ? undefined : version)
  // The pruned version comes first, since a conversion may need what is restored there.
  for (const next of new Set([version, ...managed.keys()])) {
    const type = typeOf(next)
    const sets = managed.get(next)
    if (!type || !sets) continue
    whole = convert(whole, version, next)
    pruned = convert(pruned, version, next)
    version = next
    const kept = sets.reduce((sum, set) => union(sum, withNamedFields(type, set)), namedSetOf(type, pruned))
    pruned = remove(type, whole, difference(namedSetOf(type, whole), kept))
  }
  whole = convert(whole, version, last.apiVersion)
  pruned = convert(pruned, version, last.apiVersion)
  const lost = difference(namedSetOf(lastType, whole), namedSetOf(lastType, pruned))
  return convert(remove(lastType, whole, intersection(lost, was)), last.apiVersion, by.apiVersion)
}

const namedSetOf = (type: MergeType, value: unknown): FieldSet => withNamedFields(type, openSetOf(type, value))

/** The union of managers' fields by API version, or of all. */
function fieldsByVersion(managers: readonly Owner[], all: string | undefined): Map<string, FieldSet[]> {
  const found = new Map<string, FieldSet[]>()
  for (const { apiVersion, fields } of managers) {
    const version = all ?? apiVersion
    const known = found.get(version)
    if (known) known.push(fields)
    else found.set(version, [fields])
  }
  return found
}

/** A manager as conflicts print it. */
function managerText({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = JSON.stringify(manager) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : '')
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}

/** Kubernetes' message and causes for an apply conflict. */
export function conflictText(conflicts: readonly Conflict[]): {
  message: string
  causes: { reason: string; message: string; field: string }[]
} {
  const causes = conflicts.map(({ with: other, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${managerText(other)}`,
    field: path,
  }))
  if (conflicts.length === 1)
    return { message: `Apply failed with 1 conflict: ${causes[0]!.message}: ${causes[0]!.field}`, causes }
  const lines: string[] = []
  for (const name of new Set(conflicts.map((c) => managerText(c.with)).sort())) {
    lines.push(
      `conflicts with ${name}:`,
      ...conflicts.filter((c) => managerText(c.with) === name).map((c) => `- ${c.path}`),
    )
  }
  return { message: `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`, causes }
}

/**
 * The fields of a last-applied configuration that still have its values. A first server-side apply may take them over
 * from client-side apply.
 */
export function lastAppliedFields(type: MergeType, live: unknown, lastApplied: unknown): FieldSet {
  const { changed, removed } = compare(type, lastApplied, live)
  return difference(difference(fieldSetOf(type, lastApplied), changed), removed)
}
