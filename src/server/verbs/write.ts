import { ApiError, type GroupKind, type GroupResource, invalidObject } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { AdmissionOperation, AdmissionRequest, Reservation } from '../admission/admission.ts'
import type { Registered } from '../registry.ts'
import type { ResourceRequest } from '../request.ts'

export const groupResource = ({ resource }: Registered): GroupResource => ({ group: resource.group, resource: resource.plural })
/** What validation calls a kind: events are core's in either group. */
export const groupKind = ({ storage: { resource } }: Registered): GroupKind => ({ group: resource.group, kind: resource.kind })

/** A time as it stands in objects: whole seconds, UTC. */
export function timestamp(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== written.second) written = { second, text: `${new Date(ms).toISOString().slice(0, 19)}Z` }
  return written.text
}

/** The time that was last written out: under load it is the same for hundreds of objects. */
let written = { second: Number.NaN, text: '' }

export function throwIfInvalid(target: Registered, name: string, errors: readonly FieldError[]): void {
  if (errors.length) throw invalidObject(groupKind(target), name, errors)
}

export interface AdmissionSubject {
  operation: AdmissionOperation
  object: KubeObject | undefined
  old: KubeObject | undefined
  dryRun: boolean
}

function admissionRequest(request: ResourceRequest, subject: AdmissionSubject): AdmissionRequest {
  const { server, target, subresource, namespace, user, warnings, rules } = request
  return {
    operation: subject.operation,
    object: subject.object,
    old: subject.old,
    dryRun: subject.dryRun,
    resource: target.resource,
    subresource,
    namespace,
    name: request.name || (subject.object?.metadata.name ?? ''),
    user,
    warnings,
    reader: server.access,
    now: rules.now,
  }
}

/** Lets every admission plugin see, and change, the object before it is judged. */
export function admit(request: ResourceRequest, subject: AdmissionSubject): void {
  const asked = admissionRequest(request, subject)
  for (const plugin of request.server.admission) plugin.admit?.(asked)
}

/** Lets every admission plugin refuse what is otherwise fine. */
export function validateAdmission(request: ResourceRequest, subject: AdmissionSubject): void {
  const asked = admissionRequest(request, subject)
  for (const plugin of request.server.admission) plugin.validate?.(asked)
}

/** Takes what the write will use of something that is limited: undefined, at once, where it uses nothing. One plugin at most does that. */
export function reserve(request: ResourceRequest, subject: AdmissionSubject): Promise<Reservation | undefined> | undefined {
  const plugin = request.server.admission.find((p) => p.reserve)
  const waiting = plugin?.reserve!(admissionRequest(request, subject), request.server.access)
  return waiting && stillFine(request, subject, waiting)
}

/** Time has passed: what was fine before the wait must be so after it, as the write follows at once. */
async function stillFine(
  request: ResourceRequest,
  subject: AdmissionSubject,
  waiting: Promise<Reservation | undefined>,
): Promise<Reservation | undefined> {
  const reservation = await waiting
  try {
    validateAdmission(request, subject)
    return reservation
  } catch (e) {
    await reservation?.finish(false)
    throw e
  }
}

/** A write that lost a race because the store has moved on: worth another try with the newer object. */
export const isStale = (e: unknown): boolean => e instanceof ApiError && e.reason === 'Conflict'
