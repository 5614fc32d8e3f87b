import { ApiError, alreadyExists } from '../../api/errors.ts'
import { type PackedOwners, noOwners } from '../../api/managed-fields/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { encodeForStore } from '../objects/encode-object.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { Registered } from '../registry/registry.ts'
import { StoredObject } from '../objects/stored-object.ts'
import { groupResource } from './names.ts'
import type { Write } from './write.ts'

/**
 * Writes the object if it has not changed since it was read, or runs the action. A dry run ends here without a write.
 */
export function commit(write: Write): Promise<void> | undefined {
  if (write.change.action) return write.change.action()
  if (write.operation === 'CREATE') return commitCreation(write)
  return write.operation === 'UPDATE' ? commitUpdate(write) : commitDeletion(write)
}

function commitCreation(write: Write): Promise<void> | undefined {
  const {
    request: { server, target },
    object,
  } = write
  const { namespace = '', name = '' } = object!.metadata
  const existing = server.objects.get(target, namespace, name)
  if (existing) throw takenError(target, existing.object)
  const stored = asStored(target, object!)
  if (stored instanceof Promise) return stored.then((converted) => create(write, converted))
  return create(write, stored)
}

function create(write: Write, stored: KubeObject): Promise<void> | undefined {
  const {
    request: { server, target },
    change,
  } = write
  if (change.dryRun) {
    write.result = unsaved(server.objects, target, stored, 0, write.owners)
    return undefined
  }
  return server.objects.create(target, stored, write.owners).then((written) => void (write.result = written))
}

async function commitUpdate(write: Write): Promise<void> {
  const {
    request: { server, target },
    change,
    stored,
    object,
    owners = stored!.owners,
  } = write
  // The server's own update may be a no-op.
  if (object === stored!.object) {
    write.result = stored
    return
  }
  const stands = asStored(target, object!)
  const next = stands instanceof Promise ? await stands : stands
  write.isRemoval = isGone(target, object!)
  if (change.dryRun || write.isRemoval) write.result = unsaved(server.objects, target, next, stored!.revision, owners)
  if (change.dryRun) return
  if (write.isRemoval) await server.objects.remove(target, stored!)
  else write.result = await server.objects.update(target, stored!, next, owners)
}

async function commitDeletion(write: Write): Promise<void> {
  const {
    request: { server, target },
    change,
    stored,
    object,
    isRemoval,
  } = write
  // Kinds with a grace period are marked as deleted first, even if they are removed at once, so that watchers see the
  // mark.
  const isMarked = !isRemoval || target.resource.gracePeriod !== undefined
  if (change.dryRun) {
    write.result = isMarked ? unsaved(server.objects, target, object!, stored!.revision, stored!.owners) : stored
    return
  }
  const last = isMarked ? await server.objects.update(target, stored!, object!) : stored!
  write.result = isRemoval ? last.at(await server.objects.remove(target, last)) : last
}

function asStored(
  { resource: { storedAs, conversion } }: Registered,
  object: KubeObject,
): KubeObject | Promise<KubeObject> {
  if (conversion) return conversion.store(object)
  return storedAs ? storedAs.toStored(object) : object
}

/** The object as it would be stored: the response to a dry run. */
function unsaved(
  objects: ObjectStore,
  target: Registered,
  object: KubeObject,
  revision: number,
  owners: PackedOwners = noOwners,
): StoredObject {
  const encoded = encodeForStore(object, owners)
  return StoredObject.fromEncoded('', revision, objects.cache(target).headFor(encoded.value), encoded)
}

function takenError(target: Registered, existing: KubeObject): ApiError {
  const error = alreadyExists(groupResource(target), existing.metadata.name!)
  if (!existing.metadata.deletionTimestamp) return error
  return new ApiError(error.code, error.reason, `object is being deleted: ${error.message}`, error.details)
}

/** True if an update removes the last finalizer of an object that is being deleted. */
function isGone(target: Registered, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata
  return (
    Boolean(deletionTimestamp) &&
    !deletionGracePeriodSeconds &&
    !finalizers?.length &&
    !target.resource.isHeld?.(object)
  )
}
