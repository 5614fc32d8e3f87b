import { ApiError, notFound } from '../../api/errors.ts'
import { parseResourceVersion } from '../../api/resource-version.ts'
import type { ResourceRequest, Result } from '../request.ts'
import { groupResource } from './write.ts'
import { tooNew } from './too-new.ts'

/** GET of one object, or of a subresource that shows the whole of it. */
export function get(request: ResourceRequest): Result {
  const { server, target, namespace, name } = request
  const asked = parseResourceVersion(request.query.get('resourceVersion'), (message) => new ApiError(500, '', message))
  if (asked > server.objects.revision) throw tooNew(asked, server.objects.revision)
  const stored = server.objects.get(target, namespace, name)
  if (!stored) throw notFound(groupResource(target), name)
  return { kind: 'stored', code: 200, target, stored }
}
