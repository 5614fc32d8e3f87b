import { type ApiError, forbiddenError } from '../../api/errors.ts'
import type { AdmissionRequest } from './admission.ts'

/** The 403 error with which a plugin rejects a request. An object without a name is named by its generateName. */
export function refusal({ resource, name, object }: AdmissionRequest, why: string): ApiError {
  const called = name || object?.metadata.name || object?.metadata.generateName || 'Unknown'
  return forbiddenError({ group: resource.group, resource: resource.plural }, called, why)
}

/** True for a request for the resource itself, false for its subresources. */
export const isFor = ({ resource, subresource }: AdmissionRequest, group: string, plural: string): boolean =>
  subresource === '' && resource.plural === plural && resource.group === group
