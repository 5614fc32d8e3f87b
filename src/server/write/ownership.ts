import type { ManagedFieldsEntry } from '../../api/generated/types.ts'
import {
  type Manager, type MergeType, type OwnedWrite, type Owner, type PackedOwners, decodeOwners, isReset, managerOfAgent, noOwners,
  ownersAfterCreation, ownersAfterUpdate, packAll,
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

/** Settles who manages which fields of the object that is written. The object itself goes on without managedFields. */
export function trackOwnership(write: Write): void {
  const { change, object } = write
  if (!object) return
  const sent = takeManagedFields(object)
  // The object behind a facade is not there yet: see `prepare`.
  if (!change.rules.isServersOwn && !change.facade) settleOwners(write, sent)
}

function takeManagedFields(object: KubeObject): readonly ManagedFieldsEntry[] | null | undefined {
  if (!('managedFields' in object.metadata)) return undefined
  const { managedFields, ...metadata } = object.metadata
  object.metadata = metadata
  return managedFields
}

/** Owners are those that an apply has settled, or those that follow from what has changed and from what was sent. */
export function settleOwners(write: Write, sent: readonly ManagedFieldsEntry[] | null | undefined): void {
  if (write.request.server.ignoresOwnership) return
  write.owners = write.change.owners ? packAll(write.change.owners(write)) : ownersAfter(write, sent)
}

function ownersAfter({ request, operation, stored, old, object }: Write, sent: readonly ManagedFieldsEntry[] | null | undefined): PackedOwners {
  const isCreation = operation === 'CREATE'
  // The owners of a subresource's object are not the client's to change.
  const isMain = request.subresource === ''
  if (isMain && isReset(sent)) return isCreation ? ownersOfNew(request, noOwners, object!) : noOwners
  const said = isMain && sent?.length ? decodeOwners(sent) : undefined
  if (isCreation) return ownersOfNew(request, said ?? noOwners, object!)
  const known = said ?? stored!.owners
  // Nobody is tracked before the first apply of an object that was stored without managers.
  if (known.length === 0) return noOwners
  const after = ownersAfterUpdate(ownedWrite(request, 'Update'), known, old, object)
  return after === stored!.owners ? stored!.owners : packAll(after)
}

function ownersOfNew(request: ResourceRequest, known: readonly Owner[], object: KubeObject): PackedOwners {
  const about = ownedWrite(request, 'Update')
  const empty = emptyObject(request.target.type)
  return packAll(known.length ? ownersAfterUpdate(about, known, empty, object) : ownersAfterCreation(about, empty, object))
}

const empties = new WeakMap<ObjectType, object>()

/** An object that says nothing: what a creation is compared with. It has the fields that are always written out. */
function emptyObject(type: ObjectType): object {
  let empty = empties.get(type)
  if (!empty) empties.set(type, (empty = type.mergeType ? type.decode({}).object : {}))
  return empty
}
