import type { RequestKind } from './request-metrics.ts'
import type { What } from './resolve.ts'

const httpMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const httpVerbs = new Map([
  ['create', 'POST'],
  ['update', 'PUT'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
  ['get', 'GET'],
  ['list', 'LIST'],
  ['patch', 'PATCH'],
  ['watch', 'WATCH'],
])

const methodName = (method: string): string => (httpMethods.has(method) ? method : 'other')

/**
 * The metric labels of a request. Names of unknown resources are left out, so that clients cannot create series at
 * will.
 */
export function kindOf(method: string, what: What | undefined): RequestKind {
  if (!what?.target || what.target.resource.virtual)
    return { verb: methodName(method), group: '', version: '', resource: '', subresource: '', scope: '' }
  const { path, verb, subresource } = what
  const isMain = path.subresource === '' || path.isOldWatch
  return {
    verb: (isMain ? httpVerbs.get(verb) : undefined) ?? methodName(method),
    group: path.group,
    version: path.version,
    resource: path.plural,
    subresource,
    scope: path.name ? 'resource' : path.inNamespace ? 'namespace' : 'cluster',
  }
}
