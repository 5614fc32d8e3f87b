import { ApiError } from '../../api/errors.ts'
import type { Node } from '../../api/generated/types.ts'
import { unreachable } from './node-request.ts'

/** Where kubelets listen that do not say otherwise. */
const usualPort = 10250
const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
/** Names of nodes need not be names of machines. */
const reachableTypes = addressTypes.slice(1)

/** Where the agent of a node listens. Throws where it has no address, and where it does not say on which port: then nobody is there. */
export function nodeAddress(node: Node, path: string): { host: string; port: number } {
  const addresses = node.status?.addresses ?? []
  const find = (types: readonly string[]) => types.map((type) => addresses.find((a) => a.type === type)?.address).find((a) => a !== undefined)
  const host = find(addressTypes)
  if (!host) throw new ApiError(500, '', `no preferred addresses found; known addresses: [${addresses.map((a) => a.address).join(' ')}]`)
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
  if (!port) throw unreachable(`https://${host}:${usualPort}/${path}`, `${host}:${usualPort}`, 'connect: connection refused')
  return { host: find(reachableTypes) ?? host, port }
}
