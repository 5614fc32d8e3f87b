import { ApiError, conflict, invalidObject, notFound } from '../../api/errors.ts'
import { noOwners } from '../../api/managed-fields/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { type Decision, forbiddenAttempt } from '../auth/authorize.ts'
import { longBody } from '../requests/crowded-body.ts'
import { refuseHopeless } from '../requests/object-size.ts'
import type { ResourceRequest } from '../requests/request.ts'
import { checkNamespace, groupResource } from './names.ts'
import { presented } from '../verbs/shown.ts'
import { withConversions } from './object-versions.ts'
import type { Write } from './write.ts'

const staleVersion = 'the object has been modified; please apply your changes to the latest version and try again'

/**
 * Reads the stored object. A PUT of a missing object becomes a CREATE if its kind allows it and the user is authorized.
 */
export function readCurrent(write: Write): Promise<void> | undefined {
  const { request, change } = write
  if (change.operation === 'CREATE') return undefined
  const { server, target, namespace, name } = request
  const stored = server.objects.get(target, namespace, name)
  if (!stored) {
    if (change.operation === 'DELETE' || !change.rules.createsMissing) throw notFound(groupResource(target), name)
    write.operation = 'CREATE'
    return allowCreation(request)
  }
  write.stored = stored
  const old = presented(target, stored)
  if (old instanceof Promise) return old.then((object) => void (write.old = object))
  write.old = old
  return undefined
}

function allowCreation({ server, target, user, namespace, name }: ResourceRequest): Promise<void> | undefined {
  const { group, version, plural } = target.resource
  const attempt = { verb: 'create', path: { group, version, namespace, plural, subresource: '', name } }
  const asked = server.authorizer.authorize(user, attempt)
  const judge = (decision: Decision) => {
    if (!decision.allowed) throw forbiddenAttempt(user, attempt, decision)
  }
  if (asked instanceof Promise) return asked.then(judge)
  judge(asked)
  return undefined
}

/** Computes the new object and checks its preconditions. */
export function makeChange(write: Write): Promise<void> | undefined {
  const { change, old } = write
  if (write.operation === 'DELETE') {
    write.canRepeat = true
    return undefined
  }
  const current = old && change.facade ? change.facade.of(old) : old
  const wanted = withConversions(() => change.next!(current, write.stored?.owners ?? noOwners))
  if (wanted instanceof Promise) return wanted.then((sent) => takeWanted(write, sent))
  takeWanted(write, wanted)
  return undefined
}

function takeWanted(write: Write, sent: KubeObject): void {
  const { request, change } = write
  write.sent = sent
  // A short body cannot produce an object that is too large, unless it patches a large one.
  const mayBeLarge = request.body.giveWay !== undefined || (write.stored?.roughSize ?? 0) > longBody
  if (mayBeLarge) refuseHopeless(request.target.resource.group, sent)
  if (change.action) return
  if (write.operation === 'CREATE') {
    checkNew(write, sent)
  } else {
    write.canRepeat = change.isRelative === true || isUnconditional(sent)
    checkPreconditions(write, sent)
  }
  if (!change.facade) write.object = sent
  if (write.operation === 'CREATE') checkNamespace(request.target, sent, request.namespace)
}

function checkNew({ request, change }: Write, { metadata }: KubeObject): void {
  if (change.isApply && metadata.uid) {
    const why = `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`
    throw conflict(groupResource(request.target), request.name, why)
  }
  if (change.operation === 'UPDATE' && metadata.uid) throw wrongUid(request, metadata.uid, '')
  if (!metadata.resourceVersion) return
  if (change.operation !== 'UPDATE')
    throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created')
  // Kubernetes compares the version only with a stored object, so an object that a PUT creates may carry any.
  parseVersion(metadata.resourceVersion)
  delete metadata.resourceVersion
}

function parseVersion(version: string): number {
  if (!/^\d+$/.test(version))
    throw new ApiError(500, '', `strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`)
  return Number(version)
}

const isUnconditional = ({ metadata: { resourceVersion: version } }: KubeObject): boolean => !version || version === '0'

/** An update with a resourceVersion or uid must match the stored object. */
function checkPreconditions({ request, change, stored, old }: Write, sent: KubeObject): void {
  const { target, name } = request
  const version = sent.metadata.resourceVersion
  if (isUnconditional(sent)) {
    if (target.resource.allowUnconditionalUpdate === false && !change.isRelative && !change.facade) {
      const { group, plural } = target.resource
      throw invalidObject({ group, kind: plural }, name, [
        invalid(Path.of('metadata', 'resourceVersion'), 0, 'must be specified for an update'),
      ])
    }
  } else if (parseVersion(version!) !== stored!.revision) {
    throw conflict(groupResource(target), name, staleVersion)
  }
  const { uid } = sent.metadata
  if (!uid || uid === old!.metadata.uid) return
  if (!change.isRelative) throw wrongUid(request, uid, old!.metadata.uid ?? '')
  // Validation rejects a changed uid in a patch of the object itself; a facade is not validated that way.
  if (change.facade) throw conflict(facadeResource(request), name, wrongUidText(uid, old!.metadata.uid ?? ''))
}

const wrongUidText = (sent: string, stored: string) =>
  `Precondition failed: UID in precondition: ${sent}, UID in object meta: ${stored}`

function facadeResource({ target, subresource }: ResourceRequest): { group: string; resource: string } {
  const { group, resource } = groupResource(target)
  return { group, resource: `${resource}/${subresource}` }
}

function wrongUid(request: ResourceRequest, sent: string, stored: string): ApiError {
  const { server, target, namespace, name } = request
  const key = server.objects.key(target, namespace, name)
  const why = `ResourceVersion: 0, AdditionalErrorMsg: ${wrongUidText(sent, stored)}`
  return conflict(groupResource(target), name, `StorageError: invalid object, Code: 4, Key: ${key}, ${why}`)
}

/** Applies the kind's defaults. A facade has none. */
export function applyDefaults({ request, change, object }: Write): void {
  if (object && !change.rules.isServersOwn) request.target.resource.defaults?.(object, request.rules)
}
