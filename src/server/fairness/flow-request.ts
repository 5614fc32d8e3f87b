import type { ObjectStore } from '../objects/object-store.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { What } from '../requests/resolve.ts'
import type { FlowRequest } from './matching.ts'

/** What flow schemas look at of a request. */
export function flowRequestOf(user: UserInfo, method: string, url: string, what: What | undefined): FlowRequest {
  if (!what) {
    return { user, verb: method.toLowerCase(), url, isResource: false, group: '', resource: '', namespace: '' }
  }
  const { group, plural, subresource, namespace } = what.path
  const resource = subresource === '' ? plural : `${plural}/${subresource}`
  return { user, verb: what.verb, url, isResource: true, group, resource, namespace }
}

const longRunning = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** True for what may go on for hours: it holds no seat. A watch holds one while it begins. */
export const isLongRunning = (what: What | undefined): boolean => what !== undefined && longRunning.has(what.path.subresource)

/** How many objects a list will look at; 0 for what is no list. */
export function objectsOf(what: What | undefined, objects: ObjectStore): number {
  if (what?.verb !== 'list' || !what.target || what.target.resource.virtual) return 0
  const { query, path, target } = what
  const count = objects.cache(target.storage).count(path.namespace ? `${target.prefix}${path.namespace}/` : target.prefix)
  const isFiltered = query.has('labelSelector') || query.has('fieldSelector')
  const limit = isFiltered ? 0 : Number(query.get('limit'))
  return limit > 0 ? Math.min(limit, count) : count
}
