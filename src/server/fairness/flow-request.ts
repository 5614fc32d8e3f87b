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
export const objectsOf = (what: What | undefined, objects: ObjectStore): number =>
  what?.verb === 'list' ? examined(what, objects) : 0

/** The number of objects that a request reads at its start: those of a list, and of a watch with initial events. */
export const objectsRead = (what: What, objects: ObjectStore): number =>
  what.verb === 'list' || (what.verb === 'watch' && hasInitialEvents(what)) ? examined(what, objects) : 0

function hasInitialEvents({ query }: What): boolean {
  const sends = query.get('sendInitialEvents')
  const version = query.get('resourceVersion') ?? ''
  return sends === null ? version === '' || version === '0' : sends !== 'false'
}

function examined({ query, path, target }: What, objects: ObjectStore): number {
  if (!target || target.resource.virtual) return 0
  const count = objects
    .cache(target.storage)
    .count(path.namespace ? `${target.prefix}${path.namespace}/` : target.prefix)
  const isFiltered = query.has('labelSelector') || query.has('fieldSelector')
  const limit = isFiltered ? 0 : Number(query.get('limit'))
  return limit > 0 ? Math.min(limit, count) : count
}
