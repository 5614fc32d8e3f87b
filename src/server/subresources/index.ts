import { badRequest } from '../../api/errors.ts'
import type { Action } from './action.ts'
import { podBinding } from './pod-binding.ts'
import { podEviction } from './pod-eviction.ts'
import { podAttach, podExec, podLog, podPortForward } from './pod-streams.ts'

/**
 * Declares a proxy subresource for discovery. proxy/proxy-door.ts serves its requests, whose bodies are not objects.
 */
const proxy = (plural: string, kind: string): Action => ({
  of: { group: '', plural, subresource: 'proxy' },
  verbs: ['create', 'delete', 'get', 'patch', 'update'],
  kind: { group: '', version: 'v1', kind },
  run: async () => {
    throw badRequest('a proxied request needs a connection of its own')
  },
})

/** nodes/proxy, pods/proxy and services/proxy. */
export const proxyActions: readonly Action[] = [
  proxy('nodes', 'NodeProxyOptions'),
  proxy('pods', 'PodProxyOptions'),
  proxy('services', 'ServiceProxyOptions'),
]

/** The pod subresources with their own behaviour. */
export const podActions: readonly Action[] = [podAttach, podBinding, podEviction, podExec, podLog, podPortForward]
