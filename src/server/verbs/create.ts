import { ApiError, alreadyExists } from '../../api/errors.ts'
import { cloneObject } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { decodeObject, fieldOf } from '../../api/schema/index.ts'
import { validateObjectMeta } from '../../api/validation/object-meta.ts'
import { Path } from '../../api/validation/path.ts'
import type { Reservation } from '../admission/admission.ts'
import { decodeBody } from '../body.ts'
import type { Registered } from '../registry.ts'
import type { ResourceRequest, Result } from '../request.ts'
import { encodeForStore } from '../encode-object.ts'
import { StoredObject } from '../stored-object.ts'
import { parseWriteOptions } from './options.ts'
import { checkNamespace } from './identity.ts'
import { dropRepeatedOwners } from './owners.ts'
import { admit, groupResource, reserve, throwIfInvalid, timestamp, validateAdmission } from './write.ts'

/** How often a generated name is tried anew when it is taken. */
const nameAttempts = 8
const maxGeneratedPrefix = 58
/** Kubernetes' alphabet for generated names: no vowels, nothing easily mistaken. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** POST of a new object. */
export async function create(request: ResourceRequest): Promise<Result> {
  const { server, target } = request
  const options = parseWriteOptions(request.query, 'CreateOptions')
  const { group, version, kind } = target.resource
  const decoded = await decodeBody(request.body, { group, version, kind, type: target.type }, server.registry, options.fieldValidation, request.warnings)
  return { kind: 'stored', code: 201, target, stored: await createObject(request, decoded, options.dryRun) }
}

/** A status that says nothing yet, with the fields that are always written out. */
function emptyStatus(type: string): object {
  const field = fieldOf(type, 'status')
  return field?.type.kind === 'struct' ? decodeObject(field.type.name, {}).object : {}
}

/** Takes a decoded object through defaults, admission and validation into the store. */
export async function createObject(request: ResourceRequest, object: KubeObject, dryRun: boolean): Promise<StoredObject> {
  const { server, target, namespace, rules } = request
  const { resource } = target
  const meta = object.metadata
  if (meta.resourceVersion) throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created')
  checkNamespace(target, object, namespace)
  resource.defaults?.(object, rules)
  admit(request, { operation: 'CREATE', object, old: undefined, dryRun })

  meta.uid = server.random.uuid()
  meta.creationTimestamp = timestamp(rules.now)
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink', 'managedFields'] as const) delete meta[field]
  if (resource.generation) meta.generation = 1
  if (resource.status && !resource.keepsStatusOnCreate && 'status' in object) object.status = emptyStatus(target.type)
  dropRepeatedOwners(meta, request.warnings)
  const isGenerated = !meta.name && Boolean(meta.generateName)
  for (let attempt = 1; ; attempt++) {
    const candidate = isGenerated ? cloneObject(object) : object
    if (isGenerated) candidate.metadata.name = generateName(meta.generateName!, server.random)
    try {
      return await finishCreate(request, candidate, dryRun)
    } catch (e) {
      const isTaken = e instanceof ApiError && e.reason === 'AlreadyExists'
      if (!isTaken || !isGenerated || attempt === nameAttempts) throw e
    }
  }
}

export function generateName(base: string, random: { next(): number }): string {
  let suffix = ''
  for (let i = 0; i < 5; i++) suffix += alphabet[Math.floor(random.next() * alphabet.length)]
  return base.slice(0, maxGeneratedPrefix) + suffix
}

async function finishCreate(request: ResourceRequest, object: KubeObject, dryRun: boolean): Promise<StoredObject> {
  const { server, target, rules } = request
  const { resource } = target
  resource.prepareForCreate?.(object, rules)
  const begun = resource.begin?.(object, undefined, { reader: server.access, dryRun })
  const subject = { operation: 'CREATE' as const, object, old: undefined, dryRun }
  let reservation: Reservation | undefined
  let committed = false
  try {
    throwIfInvalid(target, object.metadata.name ?? '', begun?.errors ?? [])
    throwIfInvalid(target, object.metadata.name ?? '', [
      ...validateObjectMeta(object.metadata, resource.namespaced, resource.nameRule, Path.of('metadata')),
      ...resource.validate(object, rules),
    ])
    for (const warning of resource.warnings?.(object, undefined, rules) ?? []) request.warnings.push(warning)
    validateAdmission(request, subject)
    const waiting = reserve(request, subject)
    if (waiting) reservation = await waiting

    const existing = server.objects.get(target, object.metadata.namespace ?? '', object.metadata.name!)
    if (existing) throw takenError(target, existing.object)
    const stored = resource.storedAs ? resource.storedAs.toStored(object) : object
    if (dryRun) return unsaved(target, stored, 0)
    const written = await server.objects.create(target, stored)
    committed = true
    return written
  } finally {
    begun?.finish(committed)
    await reservation?.finish(committed)
  }
}

/** An object as it would be stored, which it is not: the answer to a dry run. */
export function unsaved(target: Registered, object: KubeObject, revision: number): StoredObject {
  const { head } = target.storage
  return StoredObject.fromStore('', revision, encodeForStore(object).value, head)
}

function takenError(target: Registered, existing: KubeObject): ApiError {
  const error = alreadyExists(groupResource(target), existing.metadata.name!)
  if (!existing.metadata.deletionTimestamp) return error
  return new ApiError(error.code, error.reason, `object is being deleted: ${error.message}`, error.details)
}
