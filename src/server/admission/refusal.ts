import { type ApiError, forbiddenError } from '../../api/errors.ts'
import type { AdmissionRequest } from './admission.ts'

/** What a plugin throws to refuse a request: 403, with the reason. An object that gets its name later goes by the start of it. */
export function refusal({ resource, name, object }: AdmissionRequest, why: string): ApiError {
  const called = name || object?.metadata.name || object?.metadata.generateName || 'Unknown'
  return forbiddenError({ group: resource.group, resource: resource.plural }, called, why)
}

/** Whether a request is about a resource itself, not about one of its subresources. */
export const isFor = ({ resource, subresource }: AdmissionRequest, group: string, plural: string): boolean =>
  subresource === '' && resource.plural === plural && resource.group === group
