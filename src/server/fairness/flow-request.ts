import type { ObjectStore } from '../objects/object-store.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { What } from '../requests/resolve.ts'
import type { FlowRequest } from './matching.ts'

/** The parts of a request that flow schemas match. */
export function flowRequestOf(user: UserInfo, method: string, url: string, what: What | undefined): FlowRequest {
  if (!what) {
    return { user, verb: method.toLowerCase(), url, isResource: false, group: '', resource: '', namespace: '' }
  }
  const { group, plural, subresource, namespace } = what.path
  const resource = subresource === '' ? plural : `${plural}/${subresource}`
  return { user, verb: what.verb, url, isResource: true, group, resource, namespace }
}

const longRunning = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** True for requests that may last for hours. They hold no seat, except for a watch while it starts. */
export const isLongRunning = (what: What | undefined): boolean =>
  what !== undefined && longRunning.has(what.path.subresource)

/** The number of objects that a list examines; 0 for other requests. */
export function objectsOf(what: What | undefined, objects: ObjectStore): number {
  if (what?.verb !== 'list' || !what.target || what.target.resource.virtual) return 0
  const { query, path, target } = what
  const count = objects
    .cache(target.storage)
    .count(path.namespace ? `${target.prefix}${path.namespace}/` : target.prefix)
  const isFiltered = query.has('labelSelector') || query.has('fieldSelector')
  const limit = isFiltered ? 0 : Number(query.get('limit'))
  return limit > 0 ? Math.min(limit, count) : count
}
