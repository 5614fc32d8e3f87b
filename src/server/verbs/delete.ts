import { badRequest, conflict, isConflict, notFound } from '../../api/errors.ts'
import { addInt64, maxInt64Of, secondsInMs } from '../../api/int64.ts'
import type { KubeObject } from '../../api/object.ts'
import { DecodeError, decodeObject } from '../../api/schema/index.ts'
import { type FieldError, invalid, notSupported } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { parseBody } from '../body.ts'
import type { DeleteOptions } from '../objects.ts'
import type { Registered } from '../registry.ts'
import type { RequestBody, ResourceRequest, Result } from '../request.ts'
import type { StoredObject } from '../stored-object.ts'
import { unsaved } from './create.ts'
import { checkDryRun, invalidOptions, queryBoolean, queryInteger } from './options.ts'
import { admit, groupResource, timestamp, validateAdmission } from './write.ts'

const orphan = 'orphan'
const foreground = 'foregroundDeletion'
const policies = ['Foreground', 'Background', 'Orphan']

/** DELETE of one object. */
export async function deleteOne(request: ResourceRequest): Promise<Result> {
  const { target, name } = request
  const options = await readDeleteOptions(request)
  const outcome = await deleteObject(request, options)
  if (target.resource.deleteAnswersObject || !outcome.isRemoved) return { kind: 'stored', code: 200, target, stored: outcome.last }
  const { group, plural } = target.resource
  const value = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group ? { group } : {}), kind: plural, uid: outcome.last.object.metadata.uid },
  }
  return { kind: 'value', code: 200, value }
}

export interface DeleteOutcome {
  last: StoredObject
  /** False where finalizers or a grace period keep it for now. */
  isRemoved: boolean
}

const optionNames = ['gracePeriodSeconds', 'propagationPolicy', 'orphanDependents', 'dryRun']

/** Options come in the body or, where there is none, in the query. */
export async function readDeleteOptions(request: ResourceRequest): Promise<DeleteOptions> {
  const { body, query } = request
  const options = body.bytes.length > 0 ? await decodeOptions(body) : fromQuery(query)
  if (body.bytes.length > 0 && query.has('dryRun') && !options.dryRun?.length) options.dryRun = query.getAll('dryRun')
  const errors: FieldError[] = []
  const path = Path.of('propagationPolicy')
  const { propagationPolicy: policy, orphanDependents } = options
  if (policy !== undefined && orphanDependents !== undefined) {
    errors.push(invalid(path, policy, 'orphanDependents and deletionPropagation cannot be both set'))
  } else if (policy !== undefined && !policies.includes(policy)) {
    errors.push({ ...notSupported(path, policy, []), message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"` })
  }
  errors.push(...checkDryRun(options.dryRun ?? []))
  if (errors.length) throw invalidOptions('DeleteOptions', errors)
  const { defaultPropagationWarning } = request.target.resource
  if (defaultPropagationWarning && policy === undefined && orphanDependents === undefined) request.warnings.push(defaultPropagationWarning)
  return options
}

function fromQuery(query: URLSearchParams): DeleteOptions {
  if (!optionNames.some((n) => query.has(n))) return {}
  return {
    gracePeriodSeconds: queryInteger(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: query.has('orphanDependents') ? queryBoolean(query, 'orphanDependents') : undefined,
    dryRun: query.getAll('dryRun'),
  }
}

async function decodeOptions(body: RequestBody): Promise<DeleteOptions> {
  const parsed = await parseBody(body, 'DeleteOptions', (problem) => problem)
  const { kind, apiVersion } = (parsed.value ?? {}) as { kind?: unknown; apiVersion?: unknown }
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    const scheme = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27'
    throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(scheme)}`)
  }
  try {
    return decodeObject('DeleteOptions', parsed.value, { text: parsed.text }).object as DeleteOptions
  } catch (e) {
    if (e instanceof DecodeError) throw badRequest(e.message)
    throw e
  }
}

function checkPreconditions(target: Registered, object: KubeObject, preconditions: DeleteOptions['preconditions']): void {
  if (!preconditions) return
  const { name = '', uid = '', resourceVersion = '' } = object.metadata
  const about = { group: '', resource: target.resource.kind }
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      about,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    )
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      about,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    )
  }
}

/** The finalizers by which the garbage collector will know what to do with the dependents. */
function propagationFinalizers(target: Registered, object: KubeObject, options: DeleteOptions): string[] {
  const wanted = (() => {
    if (options.orphanDependents !== undefined) return options.orphanDependents ? orphan : ''
    if (options.propagationPolicy === 'Orphan') return orphan
    if (options.propagationPolicy === 'Foreground') return foreground
    if (options.propagationPolicy === 'Background') return ''
    // Unsaid: what the object itself carries counts, else the kind's habit.
    if (object.metadata.finalizers?.includes(orphan)) return orphan
    if (object.metadata.finalizers?.includes(foreground)) return foreground
    return target.resource.defaultPropagation === 'Orphan' ? orphan : ''
  })()
  const others = (object.metadata.finalizers ?? []).filter((f) => f !== orphan && f !== foreground)
  return wanted ? [...others, wanted] : others
}

/** What a delete makes of an object: its last form, and whether it goes now or stays until others are done with it. */
export function markDeleted(target: Registered, object: KubeObject, options: DeleteOptions, now: number): { next: KubeObject; isRemoved: boolean } {
  const { resource } = target
  // What it does not change is shared, and need not be encoded again.
  const meta = { ...object.metadata }
  const next = { ...object, metadata: meta }
  const finalizers = propagationFinalizers(target, object, options)
  const grace = maxInt64Of([resource.gracePeriod?.(object, options.gracePeriodSeconds) ?? 0])
  if (finalizers.length || object.metadata.finalizers?.length) meta.finalizers = finalizers.length ? finalizers : undefined
  const isFirst = !meta.deletionTimestamp
  const isHeld = finalizers.length > 0 || grace > 0
  if (isFirst) {
    meta.deletionTimestamp = timestamp(now + secondsInMs(grace))
    meta.deletionGracePeriodSeconds = grace
    if (meta.generation) meta.generation = addInt64(meta.generation, 1)
    resource.beginDeletion?.(next)
  } else if (grace < (meta.deletionGracePeriodSeconds ?? 0)) {
    // A shorter wait may be asked for later, a longer one may not.
    const askedAt = Date.parse(meta.deletionTimestamp!) - secondsInMs(meta.deletionGracePeriodSeconds ?? 0)
    meta.deletionTimestamp = timestamp(askedAt + secondsInMs(grace))
    meta.deletionGracePeriodSeconds = grace
  }
  const waits = finalizers.length > 0 || (isHeld && (meta.deletionGracePeriodSeconds ?? 0) > 0) || Boolean(resource.isHeld?.(next))
  return { next, isRemoved: !waits }
}

/** Deletes an object, or marks it as being deleted where finalizers or a grace period ask for that. */
export async function deleteObject(request: ResourceRequest, options: DeleteOptions): Promise<DeleteOutcome> {
  const { server, target, namespace, name, rules } = request
  const dryRun = Boolean(options.dryRun?.length)
  for (;;) {
    const stored = server.objects.get(target, namespace, name)
    if (!stored) throw notFound(groupResource(target), name)
    const subject = { operation: 'DELETE' as const, object: undefined, old: stored.object, dryRun }
    admit(request, subject)
    checkPreconditions(target, stored.object, options.preconditions)
    validateAdmission(request, subject)
    const { next, isRemoved } = markDeleted(target, stored.object, options, rules.now)
    try {
      // Kinds that end gracefully are marked first, even when they end at once: their watchers see why they went.
      const isMarked = !isRemoved || target.resource.gracePeriod !== undefined
      if (dryRun) return { last: isMarked ? unsaved(target, next, stored.revision) : stored, isRemoved }
      const last = isMarked ? await server.objects.update(target, stored, next) : stored
      if (!isRemoved) return { last, isRemoved }
      return { last: last.at(await server.objects.remove(target, last)), isRemoved }
    } catch (e) {
      if (!isConflict(e) || server.objects.get(target, namespace, name)?.revision === stored.revision) throw e
    }
  }
}
