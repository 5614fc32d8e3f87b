import { ApiError, notFound } from '../../api/errors.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { groupResource } from '../write/names.ts'
import { askedVersion } from './list-options.ts'

/** GET of an object, or of a subresource that shows the whole object. */
export function get(request: ResourceRequest): Result {
  const { server, target, namespace, name } = request
  askedVersion(request.query, server.objects.revision, (message) => new ApiError(500, '', message))
  const stored = server.objects.get(target, namespace, name)
  if (!stored) throw notFound(groupResource(target), name)
  return { kind: 'stored', code: 200, target, stored }
}
