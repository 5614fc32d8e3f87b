import type { ManagedFieldsEntry } from '../../api/generated/types.ts'
import {
  type Manager,
  type MergeType,
  type OwnedWrite,
  type Owner,
  type PackedOwners,
  decodeOwners,
  isReset,
  managerOfAgent,
  noOwners,
  ownersAfterCreation,
  ownersAfterUpdate,
  packAll,
} from '../../api/managed-fields/index.ts'
import type { ObjectType } from '../../api/object-type.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Registered } from '../registry/registry.ts'
import type { ResourceRequest } from '../requests/request.ts'
import { timestamp } from '../../api/object.ts'
import { ObjectVersions, withConversions } from './object-versions.ts'
import type { Write } from './write.ts'

const untyped: MergeType = { kind: 'untyped' }

const mainIgnores: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'status'])
const statusIgnores: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'spec'])
const noIgnores: ReadonlySet<string> = new Set(['apiVersion', 'kind'])

/** The fields that a write through this subresource does not change, and therefore does not own. */
function ignoresOf({ resource }: Registered, subresource: string): ReadonlySet<string> {
  if (subresource === 'status') return statusIgnores
  return resource.status ? mainIgnores : noIgnores
}

/** The parts of a request that determine field ownership. */
export function ownedWrite(
  { server, target, subresource, query, userAgent, rules }: ResourceRequest,
  operation: Manager['operation'],
): OwnedWrite {
  const manager = query.get('fieldManager') || managerOfAgent(userAgent)
  return {
    type: target.type.mergeType ?? untyped,
    by: { manager, operation, apiVersion: target.apiVersion, subresource },
    time: timestamp(rules.now),
    ignores: ignoresOf(target, subresource),
    hasChangingTypes: target.resource.isCustom,
    versions: new ObjectVersions(server.registry, target),
  }
}

/** Computes managedFields. The object itself continues without them. */
export function trackOwnership(write: Write): Promise<void> | undefined {
  const { change, object } = write
  if (!object) return undefined
  const sent = takeManagedFields(object)
  // The object behind a facade is built later, in `prepare`.
  return change.rules.isUntracked || change.facade ? undefined : settleOwners(write, sent)
}

function takeManagedFields(object: KubeObject): readonly ManagedFieldsEntry[] | null | undefined {
  if (!('managedFields' in object.metadata)) return undefined
  const { managedFields, ...metadata } = object.metadata
  object.metadata = metadata
  return managedFields
}

/** Owners come from the apply, or from the difference between the old and the new object. */
export function settleOwners(
  write: Write,
  sent: readonly ManagedFieldsEntry[] | null | undefined,
): Promise<void> | undefined {
  if (write.request.server.ignoresOwnership) return undefined
  const { owners } = write.change
  const settled = owners ? withConversions(() => packAll(owners(write))) : ownersAfter(write, sent)
  if (settled instanceof Promise) return settled.then((packed) => void (write.owners = packed))
  write.owners = settled
  return undefined
}

function ownersAfter(
  { request, operation, stored, old, object }: Write,
  sent: readonly ManagedFieldsEntry[] | null | undefined,
): PackedOwners | Promise<PackedOwners> {
  const isCreation = operation === 'CREATE'
  // Managed fields in the object of a subresource are ignored.
  const isMain = request.subresource === ''
  if (isMain && isReset(sent)) return isCreation ? ownersOfNew(request, noOwners, object!) : noOwners
  const said = isMain && sent?.length ? decodeOwners(sent) : undefined
  if (isCreation) return ownersOfNew(request, said ?? noOwners, object!)
  const known = said ?? stored!.owners
  // An object that was stored without managers stays untracked until its first apply.
  if (known.length === 0) return noOwners
  const about = ownedWrite(request, 'Update')
  const packed = (after: readonly Owner[]) => (after === stored!.owners ? stored!.owners : packAll(after))
  const settled = withConversions(() => packed(ownersAfterUpdate(about, known, old, object)))
  if (!(settled instanceof Promise)) return settled
  // A failing conversion webhook must not fail an update: other versions are left out then.
  return settled.catch(() => packed(ownersAfterUpdate({ ...about, versions: undefined }, known, old, object)))
}

function ownersOfNew(request: ResourceRequest, known: readonly Owner[], object: KubeObject): PackedOwners {
  const about = { ...ownedWrite(request, 'Update'), versions: undefined }
  const empty = emptyObject(request.target.type)
  return packAll(
    known.length ? ownersAfterUpdate(about, known, empty, object) : ownersAfterCreation(about, empty, object),
  )
}

const empties = new WeakMap<ObjectType, object>()

/** The empty object that a creation is compared with. It has the fields that are always serialized. */
function emptyObject(type: ObjectType): object {
  let empty = empties.get(type)
  if (!empty) empties.set(type, (empty = type.mergeType ? type.decode({}).object : {}))
  return empty
}
