import { ApiError, type GroupKind, type GroupResource, invalidObject } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { AdmissionOperation, AdmissionRequest } from '../admission/admission.ts'
import type { Registered } from '../registry.ts'
import type { ResourceRequest } from '../request.ts'

export const groupResource = ({ resource }: Registered): GroupResource => ({ group: resource.group, resource: resource.plural })
/** What validation calls a kind: events are core's in either group. */
export const groupKind = ({ storage: { resource } }: Registered): GroupKind => ({ group: resource.group, kind: resource.kind })

/** A time as it stands in objects: whole seconds, UTC. */
export const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

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

/** A write that lost a race because the store has moved on: worth another try with the newer object. */
export const isStale = (e: unknown): boolean => e instanceof ApiError && e.reason === 'Conflict'
