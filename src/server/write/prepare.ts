import { conflict } from '../../api/errors.ts'
import { deepEqual } from '../../api/deep-equal.ts'
import { generatedName } from '../../api/generated-name.ts'
import { addInt64 } from '../../api/numbers/int64.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import type { DeleteOptions } from '../objects/objects.ts'
import type { Registered } from '../registry/registry.ts'
import type { Begun } from '../registry/resource.ts'
import { markDeleted } from './deletion.ts'
import { timestamp } from '../../api/object.ts'
import { settleOwners } from './ownership.ts'
import { throwIfInvalid } from './validate.ts'
import type { Write } from './write.ts'

/** Sets system fields and restores fields that the request may not change. */
export function prepare(write: Write): Promise<void> | undefined {
  const waiting = write.change.facade && putFacade(write)
  if (waiting) return waiting.then(() => prepareObject(write))
  prepareObject(write)
  return undefined
}

function prepareObject(write: Write): void {
  if (write.operation === 'DELETE') prepareDeletion(write)
  else if (!write.object || write.change.rules.isServersOwn) return
  else if (write.operation === 'CREATE') prepareCreation(write)
  else prepareUpdate(write)
}

/** Applies the facade to the object behind it. */
function putFacade(write: Write): Promise<void> | undefined {
  write.object = write.change.facade!.put(write.old!, write.sent!)
  return settleOwners(write, undefined)
}

function prepareCreation(write: Write): void {
  const { request } = write
  const { server, target, rules } = request
  const { resource } = target
  const object = write.object!
  const meta = object.metadata
  meta.uid = server.random.uuid()
  meta.creationTimestamp = timestamp(rules.now)
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'] as const) delete meta[field]
  if (resource.generation) meta.generation = 1
  if (resource.status && !resource.keepsStatusOnCreate && 'status' in object) object.status = target.type.emptyStatus()
  dropRepeatedOwners(meta, request.warnings)
  const isGenerated = !meta.name && Boolean(meta.generateName)
  if (isGenerated) meta.name = generatedName(meta.generateName!, server.random)
  // A retry generates another name. A PUT retries as an update if another writer created the object.
  write.canRepeat = isGenerated || write.change.operation === 'UPDATE'
  resource.prepareForCreate?.(object, rules)
}

function prepareUpdate({ request, change, old, object }: Write): void {
  keepSystemFields(object!, old!)
  change.rules.prepare(object!, old!, request.rules)
  dropRepeatedOwners(object!.metadata, request.warnings)
  if (change.rules.raisesGeneration) raiseGeneration(request.target, object!, old!)
}

/** Restores system metadata on update. */
function keepSystemFields(object: KubeObject, old: KubeObject): void {
  const meta = object.metadata
  const was = old.metadata
  meta.uid ||= was.uid
  meta.creationTimestamp = was.creationTimestamp
  if (was.deletionTimestamp) meta.deletionTimestamp = was.deletionTimestamp
  if (was.deletionGracePeriodSeconds !== undefined) meta.deletionGracePeriodSeconds ??= was.deletionGracePeriodSeconds
  meta.generation = was.generation
  delete meta.selfLink
}

/** Removes duplicate ownerReferences and warns about them, as Kubernetes does. */
function dropRepeatedOwners(meta: ObjectMeta, warnings: string[]): void {
  const owners = meta.ownerReferences
  if (!owners || owners.length < 2) return
  const seen = new Set<string>()
  const repeated: string[] = []
  const kept = owners.filter((owner) => {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
    if (seen.has(key)) repeated.push(uid)
    return seen.size < seen.add(key).size
  })
  if (repeated.length === 0) return
  meta.ownerReferences = kept
  warnings.push(
    '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; ' +
      `please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  )
}

/** Increments metadata.generation if the spec has changed. */
function raiseGeneration(target: Registered, object: KubeObject, old: KubeObject): void {
  const rule = target.resource.generation
  if (!rule) return
  const specOf = (o: KubeObject) => (o as { spec?: unknown }).spec
  const hasChanged = rule !== true && rule.changed ? rule.changed(object, old) : !deepEqual(specOf(object), specOf(old))
  if (hasChanged) object.metadata.generation = addInt64(old.metadata.generation ?? 0, 1)
}

function prepareDeletion(write: Write): void {
  const { request, change, stored } = write
  const deletion = change.deletion ?? {}
  checkDeletePreconditions(request.target, stored!.object, deletion.preconditions)
  const { next, isRemoved } = markDeleted(request.target, stored!.object, deletion, request.rules.now)
  write.object = next
  write.isRemoval = isRemoved
}

function checkDeletePreconditions(
  target: Registered,
  object: KubeObject,
  preconditions: DeleteOptions['preconditions'],
): void {
  if (!preconditions) return
  const { name = '', uid = '', resourceVersion = '' } = object.metadata
  const about = { group: '', resource: target.resource.kind }
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid})`
    throw conflict(about, name, `${why}. The object might have been deleted and then recreated`)
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion})`
    throw conflict(about, name, `${why}. The object might have been modified`)
  }
}

/** Allocates addresses and ports. */
export function allocate(write: Write): Promise<void> | undefined {
  const { request, change, operation, object, old } = write
  const { resource } = request.target
  if (resource.released && !change.dryRun) write.held.push({ finish: () => resource.released!()?.then(() => {}) })
  if (!resource.begin || !object || operation === 'DELETE' || (operation === 'UPDATE' && !change.rules.allocates))
    return undefined
  const begun = resource.begin(object, operation === 'CREATE' ? undefined : old, {
    reader: request.server.access,
    dryRun: change.dryRun,
  })
  if (begun instanceof Promise) return begun.then((taken) => hold(write, taken))
  return hold(write, begun)
}

function hold({ request, held, object }: Write, taken: Begun): undefined {
  held.push(taken)
  throwIfInvalid(request.target, object!.metadata.name ?? '', taken.errors)
}
