import { hasSubresource, verbOf } from './dispatch.ts'
import type { Registry } from './registry.ts'
import type { RequestPath } from './request-info.ts'
import type { RequestKind } from './request-metrics.ts'

const httpMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const httpVerbs: Record<string, string> = { create: 'POST', update: 'PUT', delete: 'DELETE', deletecollection: 'DELETECOLLECTION', get: 'GET', list: 'LIST', patch: 'PATCH', watch: 'WATCH' }

/** What a request is for the metrics. Names that are not served are left out, so that nobody can make series at will. */
export function kindOf(method: string, path: RequestPath, query: URLSearchParams, registry: Registry): RequestKind {
  const target = path.kind === 'resource' ? registry.find(path.apiVersion, path.plural) : undefined
  if (path.kind !== 'resource' || !target) return { verb: httpMethods.has(method) ? method : 'other', group: '', version: '', resource: '', subresource: '', scope: '' }
  const verb = path.isOldWatch ? 'watch' : path.subresource ? undefined : verbOf(method, path.name, query)
  return {
    verb: verb ? httpVerbs[verb]! : httpMethods.has(method) ? method : 'other',
    group: path.group,
    version: path.version,
    resource: path.plural,
    subresource: hasSubresource(target, path.subresource) ? path.subresource : '',
    scope: path.name ? 'resource' : path.inNamespace ? 'namespace' : 'cluster',
  }
}
