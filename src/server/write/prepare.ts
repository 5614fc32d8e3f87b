import { conflict } from '../../api/errors.ts'
import { deepEqual } from '../../api/deep-equal.ts'
import { addInt64 } from '../../api/int64.ts'
import type { KubeObject } from '../../api/object.ts'
import type { DeleteOptions } from '../objects/objects.ts'
import type { Registered } from '../registry/registry.ts'
import type { Begun } from '../registry/resource.ts'
import { markDeleted } from './deletion.ts'
import { generateName, timestamp } from './names.ts'
import { dropRepeatedOwners } from './owners.ts'
import { settleOwners } from './ownership.ts'
import { throwIfInvalid } from './validate.ts'
import type { Write } from './write.ts'

/** Puts in what the system decides, and back what the request may not change. */
export function prepare(write: Write): void {
  if (write.change.facade) putFacade(write)
  if (write.operation === 'DELETE') prepareDeletion(write)
  else if (!write.object || write.change.rules.isServersOwn) return
  else if (write.operation === 'CREATE') prepareCreation(write)
  else prepareUpdate(write)
}

/** The object behind a facade, changed as the facade says. */
function putFacade(write: Write): void {
  write.object = write.change.facade!.put(write.old!, write.sent!)
  settleOwners(write, undefined)
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
  if (isGenerated) meta.name = generateName(meta.generateName!, server.random)
  // A name of chance is made anew; a PUT whose object somebody else has made meanwhile is an update after all.
  write.canRepeat = isGenerated || write.change.operation === 'UPDATE'
  resource.prepareForCreate?.(object, rules)
}

function prepareUpdate({ request, change, old, object }: Write): void {
  keepSystemFields(object!, old!)
  change.rules.prepare(object!, old!, request.rules)
  dropRepeatedOwners(object!.metadata, request.warnings)
  if (change.rules.raisesGeneration) raiseGeneration(request.target, object!, old!)
}

/** What the system decides about an object is not an update's to change. */
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

/** The generation counts changes of what the user wants. */
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

function checkDeletePreconditions(target: Registered, object: KubeObject, preconditions: DeleteOptions['preconditions']): void {
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

/** Takes from shared supplies what the object needs: addresses, ports. */
export function allocate(write: Write): Promise<void> | undefined {
  const { request, change, operation, object, old } = write
  const { resource } = request.target
  if (!resource.begin || !object || operation === 'DELETE' || (operation === 'UPDATE' && !change.rules.allocates)) return undefined
  const begun = resource.begin(object, operation === 'CREATE' ? undefined : old, { reader: request.server.access, dryRun: change.dryRun })
  if (begun instanceof Promise) return begun.then((taken) => hold(write, taken))
  return hold(write, begun)
}

function hold({ request, held, object }: Write, taken: Begun): undefined {
  held.push(taken)
  throwIfInvalid(request.target, object!.metadata.name ?? '', taken.errors)
}
