import { BlockList, isIP } from 'node:net'
import { badRequest, notFound, serviceUnavailable } from '../../api/errors.ts'
import type { Node, Pod, Service } from '../../api/generated/types.ts'
import type { Random } from '../../base/random.ts'
import { nodeAddress } from '../http/node/node-address.ts'
import type { ObjectReader } from '../objects/objects.ts'
import { type ProxyId, type ProxyPath, parseProxyId } from './proxy-path.ts'
import { endpointsOf, portNameOf } from './service-endpoints.ts'

/** The destination of a proxied request. */
export interface Location {
  scheme: 'http' | 'https'
  host: string
  port: number
  /** The destination is a kubelet, to which the server authenticates with its certificate. */
  isAgent: boolean
}

/** Addresses that are never proxied to: loopback, link-local, multicast and unspecified ones. */
const closed = new BlockList()
// The process runtime gives its pods loopback addresses outside of this range.
closed.addSubnet('127.0.0.0', 16)
closed.addSubnet('0.0.0.0', 8)
closed.addSubnet('169.254.0.0', 16)
closed.addSubnet('224.0.0.0', 3)
closed.addAddress('::', 'ipv6')
closed.addAddress('::1', 'ipv6')
closed.addSubnet('fe80::', 10, 'ipv6')
closed.addSubnet('ff00::', 8, 'ipv6')

function checkAddress(address: string): void {
  const version = isIP(address)
  if (version === 0 || closed.check(address, version === 6 ? 'ipv6' : 'ipv4')) throw badRequest('address not allowed')
}

/** Resolves a proxy path to a destination. Throws in Kubernetes' words if there is none. */
export function locate(path: ProxyPath, objects: ObjectReader, random: Random): Location {
  const id = parseProxyId(path.kind, path.id)
  switch (path.kind) {
    case 'pods':
      return ofPod(path.namespace, id, objects)
    case 'services':
      return ofService(path.namespace, id, path.id, objects, random)
    default:
      return ofNode(id, path.rest, objects)
  }
}

const schemeOf = ({ scheme }: ProxyId) => scheme || 'http'
const usualPort = { http: 80, https: 443 }

function portNumber(port: string, scheme: 'http' | 'https'): number {
  if (port === '') return usualPort[scheme]
  const number = Number(port)
  if (!Number.isInteger(number) || number < 1 || number > 65_535)
    throw badRequest(`invalid port ${JSON.stringify(port)}`)
  return number
}

function ofPod(namespace: string, id: ProxyId, objects: ObjectReader): Location {
  const pod = objects.get<Pod>('', 'pods', namespace, id.name)
  if (!pod) throw notFound({ group: '', resource: 'pods' }, id.name)
  const declared = pod.spec.containers?.find((container) => container.ports?.length)?.ports?.[0]?.containerPort
  const host = pod.status?.podIP ?? ''
  checkAddress(host)
  const scheme = schemeOf(id)
  const port = id.port === '' && declared ? declared : portNumber(id.port, scheme)
  refuseSimulated(pod, host, port, objects)
  return { scheme, host, port, isAgent: false }
}

/** The address of a simulated pod may belong to another machine, so requests to it are rejected. */
function refuseSimulated(pod: Pod, host: string, port: number, objects: ObjectReader): void {
  const node = objects.get<Node>('', 'nodes', '', pod.spec.nodeName ?? '')
  if (!node?.status?.nodeInfo?.containerRuntimeVersion?.startsWith('simulated:')) return
  throw unreachableService(`dial tcp ${host}:${port}: connect: connection refused`)
}

export const unreachableService = (why: string) => serviceUnavailable(`error trying to reach service: ${why}`)

function ofService(namespace: string, id: ProxyId, asked: string, objects: ObjectReader, random: Random): Location {
  const service = objects.get<Service>('', 'services', namespace, id.name)
  if (!service) throw notFound({ group: '', resource: 'services' }, id.name)
  const portName = servicePortName(service, id)
  const endpoints = endpointsOf(namespace, id.name, portName, objects).filter(({ podName }) => podName !== undefined)
  const first = Math.floor(random.next() * endpoints.length)
  for (let i = 0; i < endpoints.length; i++) {
    const { address, port, podName } = endpoints[(first + i) % endpoints.length]!
    const pod = objects.get<Pod>('', 'pods', namespace, podName!)
    // An endpoint must be a pod's current address, because users may write endpoints.
    if (!pod?.status?.podIPs?.some(({ ip }) => ip === address)) continue
    checkAddress(address)
    refuseSimulated(pod, address, port, objects)
    return { scheme: schemeOf(id), host: address, port, isAgent: false }
  }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(asked)}`)
}

/** Endpoints name their ports. A number stands for the name of that service port. */
const servicePortName = (service: Service, id: ProxyId): string =>
  /^\d+$/.test(id.port) ? portNameOf(service, id.name, Number(id.port)) : id.port

/** The destination for a node: its kubelet, or another port of its machine. */
function ofNode(id: ProxyId, rest: string, objects: ObjectReader): Location {
  const node = objects.get<Node>('', 'nodes', '', id.name)
  if (!node) throw notFound({ group: '', resource: 'nodes' }, id.name)
  const agent = nodeAddress(node, rest.slice(1))
  if (id.port === '' || Number(id.port) === agent.port) return { scheme: 'https', ...agent, isAgent: true }
  const scheme = schemeOf(id)
  return { scheme, host: agent.host, port: portNumber(id.port, scheme), isAgent: false }
}
