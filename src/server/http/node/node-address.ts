import { ApiError } from '../../../api/errors.ts'
import type { Node } from '../../../api/generated/types.ts'
import { unreachable } from './node-request.ts'

/** The default port of kubelets. */
const usualPort = 10250
const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
/** Without Hostname: names of nodes need not be resolvable. */
const reachableTypes = addressTypes.slice(1)

/**
 * The address of a node's kubelet. Throws if the node has no address or does not publish a port, which means that no
 * kubelet listens.
 */
export function nodeAddress(node: Node, path: string): { host: string; port: number } {
  const addresses = node.status?.addresses ?? []
  const find = (types: readonly string[]) =>
    types.map((type) => addresses.find((a) => a.type === type)?.address).find((a) => a !== undefined)
  const host = find(addressTypes)
  if (!host)
    throw new ApiError(
      500,
      '',
      `no preferred addresses found; known addresses: [${addresses.map((a) => a.address).join(' ')}]`,
    )
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
  if (!port)
    throw unreachable(`https://${host}:${usualPort}/${path}`, `${host}:${usualPort}`, 'connect: connection refused')
  return { host: find(reachableTypes) ?? host, port }
}
