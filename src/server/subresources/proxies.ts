import { badRequest } from '../../api/errors.ts'
import type { Action } from './action.ts'

/** Discovery lists the proxies here; requests for them carry bytes that are no objects, and are served by proxy/proxy-door.ts. */
const proxy = (plural: string, kind: string): Action => ({
  of: { group: '', plural, subresource: 'proxy' },
  verbs: ['create', 'delete', 'get', 'patch', 'update'],
  kind: { group: '', version: 'v1', kind },
  run: async () => {
    throw badRequest('a proxied request needs a connection of its own')
  },
})

/** nodes/proxy, pods/proxy and services/proxy. */
export const proxyActions: readonly Action[] = [proxy('nodes', 'NodeProxyOptions'), proxy('pods', 'PodProxyOptions'), proxy('services', 'ServiceProxyOptions')]
