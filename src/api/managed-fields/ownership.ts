import { addedFields } from './created-fields.ts'
import {
  type FieldSet, difference, differenceBelow, emptySet, intersection, isEmptySet, pathTexts, union,
} from './field-set.ts'
import { type Manager, type Owner, isSameManager, withFields, withOtherFields } from './managers.ts'
import type { MergeType } from './merge-type.ts'
import { type Comparison, compare, fieldSetOf, merge, remove, withNamedFields, withNulls } from './typed-value.ts'

/** How many managers by update an object keeps. The oldest are merged into one. */
const maxUpdaters = 10
const ancient = 'ancient-changes'
const beforeFirstApply = 'before-first-apply'

/** Fields of metadata that nobody manages. */
const unmanagedMeta = ['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion']
const unmanaged: FieldSet = {
  'f:apiVersion': emptySet,
  'f:kind': emptySet,
  'f:metadata': { '.': emptySet, ...Object.fromEntries(unmanagedMeta.map((name) => [`f:${name}`, emptySet])) },
}

/** One write, as far as ownership goes. */
export interface OwnedWrite {
  readonly type: MergeType
  readonly by: Manager
  readonly time: string
  /** Top-level fields that this way of writing does not change: the status of the object itself, the spec of its status. */
  readonly ignores: ReadonlySet<string>
}

/** The managers of an object that is created: whoever sends it, unless it names others. `before` is an object that says nothing. */
export function ownersAfterCreation(write: OwnedWrite, before: unknown, after: unknown): readonly Owner[] {
  const added = addedFields(write.type, before, after, write.ignores)
  let fields = managed.get(added)
  if (!fields) managed.set(added, (fields = difference(added, unmanaged)))
  return withFields([{ ...write.by, time: write.time, fields }])
}

/** What is managed of the fields that were added. */
const managed = new WeakMap<FieldSet, FieldSet>()

/** The managers after a write that says what the object is: a create, an update or a patch. */
export function ownersAfterUpdate(write: OwnedWrite, owners: readonly Owner[], before: unknown, after: unknown): readonly Owner[] {
  const comparison = compare(write.type, before, after, write.ignores)
  const changed = difference(comparison.changed, unmanaged)
  if (isEmptySet(changed) && isEmptySet(comparison.removed)) return owners
  const left = withoutLost(owners, comparison, undefined)
  if (isEmptySet(changed)) return withFields(left)
  const known = owners.findIndex((o) => isSameManager(o, write.by))
  const fields = known < 0 ? changed : united(owners[known]!.fields, comparison.removed, changed)
  const own: Owner = { ...write.by, time: write.time, fields }
  const others = left.filter((o) => !isSameManager(o, write.by))
  return capped(withFields([...others, own]))
}

/** What a manager manages after a change of its own. The same set again where nothing new has come. */
function united(was: FieldSet, removed: FieldSet, changed: FieldSet): FieldSet {
  const left = isEmptySet(removed) ? was : difference(was, removed)
  return union(left, changed)
}

/** Managers without what has changed, or is gone. `by` keeps its own. */
function withoutLost(owners: readonly Owner[], { changed, removed }: Comparison, by: Manager | undefined): Owner[] {
  return owners.map((owner) => {
    if (by && isSameManager(owner, by)) return owner
    const fields = difference(difference(owner.fields, changed), removed)
    return fields === owner.fields ? owner : withOtherFields(owner, fields)
  })
}

/** Merges the oldest managers by update until there are few enough. */
function capped(owners: Owner[]): Owner[] {
  let count = owners.filter((o) => o.operation === 'Update').length
  if (count <= maxUpdaters) return owners
  const oldestFirst = owners
    .filter((o) => o.operation === 'Update')
    .sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : (a.time ?? '') > (b.time ?? '') ? 1 : a.manager < b.manager ? -1 : 1))
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

/** A field that an apply would change and that somebody else manages. */
export interface Conflict {
  readonly with: Manager
  readonly path: string
}

export interface Applied {
  /** The merged value. The very same one as before where nothing has changed. */
  value: unknown
  owners: readonly Owner[]
  conflicts: readonly Conflict[]
}

/** Applies a configuration: merges it, removes what its manager applied before and nobody wants now, and settles who manages what. */
export function applyConfiguration(write: OwnedWrite, before: readonly Owner[], live: unknown, config: unknown, force: boolean): Applied {
  const { type, by } = write
  const owners = before.length > 0 || live === undefined ? before : untrackedOwner(write, live)
  const last = owners.find((o) => isSameManager(o, by))?.fields ?? emptySet
  const ignored = Object.fromEntries([...write.ignores].map((name) => [`f:${name}`, emptySet]))
  const said = fieldSetOf(type, config)
  const fields = differenceBelow(difference(said, unmanaged), ignored)
  const others = owners.filter((o) => !isSameManager(o, by))
  const merged = merge(type, live, config)
  const isLess = !isEmptySet(difference(last, fields))
  const value = isLess ? withNulls(prune(type, merged, last, [...others.map((o) => o.fields), said]), config) : merged
  const comparison = compare(type, live, value, write.ignores)
  const conflicts = force ? [] : conflictsOf(others, comparison.changed)
  const own: Owner = { ...by, time: write.time, fields }
  return { value, owners: withFields([...withoutLost(others, comparison, undefined), own]), conflicts }
}

/** An object whose managers are not known is taken as somebody's before the first apply. */
function untrackedOwner(write: OwnedWrite, live: unknown): Owner[] {
  const by: Manager = { ...write.by, manager: beforeFirstApply, operation: 'Update' }
  const fields = difference(compare(write.type, {}, live).changed, unmanaged)
  return withFields([{ ...by, time: write.time, fields }])
}

function conflictsOf(owners: readonly Owner[], changed: FieldSet): Conflict[] {
  return owners.flatMap((owner) => Array.from(pathTexts(intersection(owner.fields, changed)), (path) => ({ with: owner, path })))
}

/** Removes what was applied last time, unless somebody manages it now. */
function prune(type: MergeType, merged: unknown, last: FieldSet, managed: readonly FieldSet[]): unknown {
  const named = (set: FieldSet) => withNamedFields(type, set)
  const setIn = (value: unknown) => named(fieldSetOf(type, value))
  const was = named(last)
  const all = setIn(merged)
  const kept = managed.reduce((sum, set) => union(sum, named(set)), setIn(remove(type, merged, was)))
  const pruned = remove(type, merged, difference(all, kept))
  return remove(type, merged, intersection(difference(all, setIn(pruned)), was))
}

/** A manager as conflicts name it. */
function managerText({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = JSON.stringify(manager) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : '')
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}

/** Kubernetes' message and causes for an apply that conflicts. */
export function conflictText(conflicts: readonly Conflict[]): { message: string; causes: { reason: string; message: string; field: string }[] } {
  const causes = conflicts.map(({ with: other, path }) => ({
    reason: 'FieldManagerConflict', message: `conflict with ${managerText(other)}`, field: path,
  }))
  if (conflicts.length === 1) return { message: `Apply failed with 1 conflict: ${causes[0]!.message}: ${causes[0]!.field}`, causes }
  const lines: string[] = []
  for (const name of new Set(conflicts.map((c) => managerText(c.with)).sort())) {
    lines.push(`conflicts with ${name}:`, ...conflicts.filter((c) => managerText(c.with) === name).map((c) => `- ${c.path}`))
  }
  return { message: `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`, causes }
}

/** The fields of a last-applied configuration that still have its values: a first apply may take them over from client-side apply. */
export function lastAppliedFields(type: MergeType, live: unknown, lastApplied: unknown): FieldSet {
  const { changed, removed } = compare(type, lastApplied, live)
  return difference(difference(fieldSetOf(type, lastApplied), changed), removed)
}

