import { ApiError, conflict, invalidObject, isAlreadyExists, isConflict, notFound } from '../../api/errors.ts'
import { deepEqual } from '../../api/deep-equal.ts'
import { addInt64 } from '../../api/int64.ts'
import { cloneObject } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { invalid } from '../../api/validation/field-error.ts'
import { validateObjectMetaUpdate } from '../../api/validation/object-meta.ts'
import { Path } from '../../api/validation/path.ts'
import type { Reservation } from '../admission/admission.ts'
import { decodeBody } from '../body.ts'
import type { Registered } from '../registry.ts'
import type { ResourceRequest, Result } from '../request.ts'
import type { PartialUpdate } from '../resource.ts'
import type { StoredObject } from '../stored-object.ts'
import { createObject, unsaved } from './create.ts'
import { checkName, checkNamespace } from './identity.ts'
import { parseWriteOptions } from './options.ts'
import { dropRepeatedOwners } from './owners.ts'
import { admit, groupResource, reserve, throwIfInvalid, validateAdmission } from './write.ts'

/** PUT of a whole object, or of the part of it that a subresource stands for. */
export async function update(request: ResourceRequest): Promise<Result> {
  const { server, target, name, namespace } = request
  const options = parseWriteOptions(request.query, 'UpdateOptions')
  const { group, version, kind } = target.resource
  const decoded = await decodeBody(request.body, { group, version, kind, type: target.type }, server.registry, options.fieldValidation, request.warnings)
  checkName(decoded, name)
  checkNamespace(target, decoded, namespace)
  // With a version to replace, there is only one try.
  const { resourceVersion } = decoded.metadata
  const isOneTry = resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0'
  const outcome = await replaceObject(request, () => (isOneTry ? decoded : cloneObject(decoded)), options.dryRun)
  return { kind: 'stored', code: outcome.created ? 201 : 200, target, stored: outcome.stored }
}

export interface Outcome {
  stored: StoredObject
  created: boolean
}

/**
 * Replaces an object by what `next` makes of the current one. `next` is called again when another writer was faster, unless what
 * it made names a resource version: then that writer's win is a conflict for the caller to hear.
 */
export async function replaceObject(request: ResourceRequest, next: (current: KubeObject) => KubeObject, dryRun: boolean): Promise<Outcome> {
  const { server, target, name, namespace } = request
  const { resource } = target
  for (;;) {
    const stored = server.objects.get(target, namespace, name)
    if (!stored) {
      if (!resource.allowCreateOnUpdate || request.subresource) throw notFound(groupResource(target), name)
      const object = next({ metadata: {} })
      if (object.metadata.uid) throw wrongUid(target, request, object.metadata.uid, '')
      // Kubernetes compares versions with what is stored only: an object that is created in this way may name any.
      parseVersion(object.metadata.resourceVersion)
      delete object.metadata.resourceVersion
      try {
        return { stored: await createObject(request, object, dryRun), created: true }
      } catch (e) {
        // Somebody else has made it meanwhile: then this is an update after all.
        if (!isAlreadyExists(e)) throw e
        continue
      }
    }
    const old = resource.storedAs ? resource.storedAs.fromStored(stored.object) : stored.object
    const object = next(old)
    const version = object.metadata.resourceVersion
    checkVersion(request, object, old, stored)
    try {
      return { stored: await writeUpdate(request, stored, old, object, dryRun), created: false }
    } catch (e) {
      const isUnconditional = !version || version === '0'
      const hasMoved = server.objects.get(target, namespace, name)?.revision !== stored.revision
      if (!(isConflict(e) && hasMoved && (isUnconditional || request.retriesConflicts))) throw e
    }
  }
}

function checkVersion(request: ResourceRequest, object: KubeObject, old: KubeObject, stored: StoredObject): void {
  const { target, name } = request
  const version = object.metadata.resourceVersion
  if (!version || version === '0') {
    if (target.resource.allowUnconditionalUpdate === false && !request.retriesConflicts) {
      const { group, plural } = target.resource
      throw invalidObject({ group, kind: plural }, name, [invalid(Path.of('metadata', 'resourceVersion'), 0, 'must be specified for an update')])
    }
  } else if (parseVersion(version) !== stored.revision) {
    throw conflict(groupResource(target), name, 'the object has been modified; please apply your changes to the latest version and try again')
  }
  const { uid } = object.metadata
  if (uid && uid !== old.metadata.uid && !request.retriesConflicts) throw wrongUid(target, request, uid, old.metadata.uid ?? '')
}

function parseVersion(version: string | undefined): number {
  if (version && !/^\d+$/.test(version)) throw new ApiError(500, '', `strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`)
  return Number(version || 0)
}

function wrongUid(target: Registered, request: ResourceRequest, sent: string, stored: string) {
  const key = request.server.objects.key(target, request.namespace, request.name)
  const why = `Precondition failed: UID in precondition: ${sent}, UID in object meta: ${stored}`
  return conflict(groupResource(target), request.name, `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`)
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
  delete meta.managedFields
}

async function writeUpdate(request: ResourceRequest, stored: StoredObject, old: KubeObject, object: KubeObject, dryRun: boolean): Promise<StoredObject> {
  const { server, target, rules, subresource } = request
  const { resource } = target
  const partial = partialUpdateOf(target, subresource)
  resource.defaults?.(object, rules)
  admit(request, { operation: 'UPDATE', object, old, dryRun })
  keepSystemFields(object, old)
  if (partial) {
    partial.prepare(object, old, rules)
  } else {
    if (resource.status) (object as { status?: unknown }).status = (old as { status?: unknown }).status
    resource.prepareForUpdate?.(object, old, rules)
  }
  dropRepeatedOwners(object.metadata, request.warnings)
  // What a controller says about an object is no change of what is wanted, whatever else it writes along.
  if (subresource !== 'status') raiseGeneration(target, object, old)
  const begun = partial ? undefined : resource.begin?.(object, old, { reader: server.access, dryRun })
  const subject = { operation: 'UPDATE' as const, object, old, dryRun }
  let reservation: Reservation | undefined
  let committed = false
  try {
    throwIfInvalid(target, object.metadata.name ?? '', begun?.errors ?? [])
    const metaErrors = validateObjectMetaUpdate(object.metadata, old.metadata, Path.of('metadata'))
    throwIfInvalid(target, object.metadata.name ?? '', [
      // Kubernetes judges the metadata for all kinds and then once more for the one: clients see each cause twice.
      ...metaErrors,
      ...metaErrors,
      ...(partial ?? { validate: resource.validateUpdate }).validate(object, old, rules),
    ])
    const warn = partial ? partial.warnings?.(object, old, rules) : resource.warnings?.(object, old, rules)
    for (const warning of warn ?? []) request.warnings.push(warning)
    validateAdmission(request, subject)
    const waiting = reserve(request, subject)
    if (waiting) reservation = await waiting

    const next = resource.storedAs ? resource.storedAs.toStored(object) : object
    if (dryRun) return unsaved(target, next, stored.revision)
    if (isGone(target, object)) {
      const last = unsaved(target, next, stored.revision)
      await server.objects.remove(target, stored)
      committed = true
      return last
    }
    const written = await server.objects.update(target, stored, next)
    committed = true
    return written
  } finally {
    begun?.finish(committed)
    await reservation?.finish(committed)
  }
}

export function partialUpdateOf(target: Registered, subresource: string): PartialUpdate<KubeObject> | undefined {
  const { status, partialUpdates = {} } = target.resource
  if (subresource === 'status') return status
  return Object.hasOwn(partialUpdates, subresource) ? partialUpdates[subresource] : undefined
}

/** The generation counts changes of what the user wants. */
function raiseGeneration(target: Registered, object: KubeObject, old: KubeObject): void {
  const rule = target.resource.generation
  if (!rule) return
  const specOf = (o: KubeObject) => (o as { spec?: unknown }).spec
  const hasChanged = rule !== true && rule.changed ? rule.changed(object, old) : !deepEqual(specOf(object), specOf(old))
  if (hasChanged) object.metadata.generation = addInt64(old.metadata.generation ?? 0, 1)
}

/** An object that was only waiting for its finalizers is removed with the last of them. */
function isGone(target: Registered, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata
  return Boolean(deletionTimestamp) && !deletionGracePeriodSeconds && !finalizers?.length && !target.resource.isHeld?.(object)
}
