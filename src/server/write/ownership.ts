import type { ManagedFieldsEntry } from '../../api/generated/types.ts'
import {
  type Manager, type MergeType, type OwnedWrite, type Owner, decodeOwners, encodeOwners, isReset, managerOfAgent, ownersAfterCreation, ownersAfterUpdate,
} from '../../api/managed-fields/index.ts'
import type { ObjectType } from '../../api/object-type.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Registered } from '../registry/registry.ts'
import type { ResourceRequest } from '../requests/request.ts'
import { timestamp } from './names.ts'
import type { Write } from './write.ts'

const untyped: MergeType = { kind: 'untyped' }

const mainIgnores: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'status'])
const statusIgnores: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'spec'])
const noIgnores: ReadonlySet<string> = new Set(['apiVersion', 'kind'])

/** What a way of writing leaves alone, so that nobody manages it by that way. */
function ignoresOf({ resource }: Registered, subresource: string): ReadonlySet<string> {
  if (subresource === 'status') return statusIgnores
  return resource.status ? mainIgnores : noIgnores
}

/** The parts of a request that decide who owns what it writes. */
export function ownedWrite({ target, subresource, query, userAgent, rules }: ResourceRequest, operation: Manager['operation']): OwnedWrite {
  const manager = query.get('fieldManager') || managerOfAgent(userAgent)
  return {
    type: target.type.mergeType ?? untyped,
    by: { manager, operation, apiVersion: target.apiVersion, subresource },
    time: timestamp(rules.now),
    ignores: ignoresOf(target, subresource),
  }
}

/** Settles who manages which fields of the object that is written. */
export function trackOwnership(write: Write): void {
  const { change, object } = write
  // The object behind a facade is not there yet: see `prepare`.
  if (change.rules.isServersOwn || !object || change.facade) return
  setOwners(write)
}

/** Puts the managers into the object: those that an apply has settled, or those that follow from what has changed. */
export function setOwners(write: Write): void {
  const { change, object } = write
  const managed = change.managedFields ? change.managedFields(write) : managedAfterUpdate(write)
  const { metadata } = object!
  if (managed !== undefined && managed.length > 0) metadata.managedFields = managed as ManagedFieldsEntry[]
  else if ('managedFields' in metadata) delete metadata.managedFields
}

function managedAfterUpdate({ request, operation, old, object }: Write): readonly ManagedFieldsEntry[] | undefined {
  const was = old?.metadata.managedFields
  const sent = object!.metadata.managedFields
  // Who manages is nothing that somebody manages: both sides are compared with the same.
  if (sent !== was) object!.metadata.managedFields = was
  const isCreation = operation === 'CREATE'
  // The managers of a subresource's object are not the client's to change.
  if (request.subresource === '' && isReset(sent)) return isCreation ? afterCreation(request, [], object!) : undefined
  const said = request.subresource === '' && sent && sent.length > 0 && sent !== was ? decodeOwners(sent) : undefined
  if (isCreation) return afterCreation(request, said ?? [], object!)
  const known = said ?? decodeOwners(was, true)!
  // Nobody is tracked before the first apply of an object that was stored without managers.
  if (known.length === 0) return undefined
  const after = ownersAfterUpdate(ownedWrite(request, 'Update'), known, old, object)
  return after === known && !said ? was : encodeOwners(after)
}

function afterCreation(request: ResourceRequest, known: readonly Owner[], object: KubeObject): ManagedFieldsEntry[] {
  const about = ownedWrite(request, 'Update')
  const empty = emptyObject(request.target.type)
  return encodeOwners(known.length ? ownersAfterUpdate(about, known, empty, object) : ownersAfterCreation(about, empty, object))
}

const empties = new WeakMap<ObjectType, object>()

/** An object that says nothing: what a creation is compared with. It has the fields that are always written out. */
function emptyObject(type: ObjectType): object {
  let empty = empties.get(type)
  if (!empty) empties.set(type, (empty = type.mergeType ? type.decode({}).object : {}))
  return empty
}
