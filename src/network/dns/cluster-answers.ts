import type { Endpoint, EndpointSlice, Service } from '../../api/generated/types.ts'
import { formatIp, parseIp } from '../../api/validation/ip.ts'
import { type DnsRecord, type Question, type RecordData, codes, types } from './message.ts'

/** The source of the cluster's names. */
export interface ClusterView {
  service(namespace: string, name: string): Service | undefined
  slicesOf(namespace: string, name: string): readonly EndpointSlice[]
  /** True if the namespace has a Service. */
  hasServices(namespace: string): boolean
  servicesAt(ip: string): readonly Service[]
  slicesAt(ip: string): readonly EndpointSlice[]
}

export interface Zone {
  /** The labels of the cluster domain: `cluster`, `local`. */
  domain: readonly string[]
  /** The address of the DNS server. */
  server: string
  view: ClusterView
}

/** Undefined if the name is outside the cluster domain: the query is forwarded. */
type ClusterAnswer =
  | {
      code: number
      answers: DnsRecord[]
      additionals: DnsRecord[]
      authorities: DnsRecord[]
      chase?: readonly string[]
    }
  | undefined

/** The TTL in seconds. It is short because endpoints change. */
const ttl = 5
const specVersion = '1.1.0'
const serviceLabel = 'kubernetes.io/service-name'

/** The records of a name. Undefined if the name does not exist; empty if only names below it exist. */
type Found = { data: RecordData[]; additionals?: DnsRecord[] } | undefined

/** Answers a query for a cluster name by the Kubernetes DNS specification. */
export function answerOf({ name, type }: Question, zone: Zone): ClusterAnswer {
  const labels = name.map((label) => label.toLowerCase())
  const { domain } = zone
  const below = isBelow(labels, domain) ? labels.slice(0, labels.length - domain.length) : undefined
  const found = below ? forward(below, type, zone) : reverse(labels, zone)
  if (found === 'elsewhere') return undefined
  const authorities = [startOfAuthority(zone)]
  if (!found) return { code: codes.nameError, answers: [], additionals: [], authorities }
  const alias = found.data.find((data) => data.type === 'CNAME')
  const data = alias ? [alias] : found.data.filter((one) => type === types.ANY || types[one.type] === type)
  const answers = data.map((one): DnsRecord => ({ name, ttl, data: one }))
  const isEmpty = answers.length === 0
  return {
    code: codes.noError,
    answers,
    additionals: isEmpty ? [] : (found.additionals ?? []),
    authorities: isEmpty ? authorities : [],
    ...(alias?.type === 'CNAME' && type !== types.CNAME ? { chase: alias.target } : {}),
  }
}

const isBelow = (labels: readonly string[], domain: readonly string[]): boolean =>
  labels.length >= domain.length && domain.every((label, i) => labels[labels.length - domain.length + i] === label)

const startOfAuthority = ({ domain }: Zone): DnsRecord => ({ name: domain, ttl, data: soaData(domain) })

const soaData = (domain: readonly string[]): RecordData => ({
  type: 'SOA',
  server: ['ns', 'dns', ...domain],
  mailbox: ['hostmaster', ...domain],
  serial: 1,
  refresh: 7200,
  retry: 1800,
  expire: 86_400,
  minimum: ttl,
})

function forward(labels: readonly string[], type: number, zone: Zone): Found {
  const { domain, server, view } = zone
  const text = labels.join('.')
  if (text === '') return { data: [soaData(domain), { type: 'NS', target: ['ns', 'dns', ...domain] }] }
  if (text === 'ns.dns') return { data: [addressData(server)!] }
  if (text === 'dns-version') return { data: [{ type: 'TXT', text: specVersion }] }
  if (text === 'svc' || text === 'pod' || text === 'dns') return { data: [] }
  const kind = labels.at(-1)
  const [namespace = '', name, ...rest] = labels.slice(0, -1).toReversed()
  if (kind === 'pod') return podRecords(name, rest)
  if (kind !== 'svc') return undefined
  if (name === undefined) return view.hasServices(namespace) ? { data: [] } : undefined
  const service = view.service(namespace, name)
  return service && serviceRecords(service, rest.toReversed(), type, zone)
}

/** The address of a pod is part of its name. The pod's existence is not checked. */
function podRecords(name: string | undefined, rest: readonly string[]): Found {
  if (name === undefined) return { data: [] }
  if (rest.length > 0) return undefined
  const isV4 = /^\d{1,3}(-\d{1,3}){3}$/.test(name)
  const data = addressData(isV4 ? name.replaceAll('-', '.') : name.replaceAll('-', ':'))
  return data && { data: [data] }
}

/**
 * The records of a Service, of its ports (`_http`, `_tcp`) and of its endpoints. `before` are the labels before its
 * name.
 */
function serviceRecords(service: Service, before: readonly string[], type: number, zone: Zone): Found {
  const { namespace = '', name = '' } = service.metadata
  const { type: kind, externalName, clusterIP = '' } = service.spec
  const at = [name, namespace, 'svc', ...zone.domain]
  if (kind === 'ExternalName')
    return before.length === 0
      ? { data: [{ type: 'CNAME', target: (externalName ?? '').replace(/\.$/, '').split('.') }] }
      : undefined
  const isHeadless = clusterIP === 'None'
  const ports = isHeadless ? headlessPorts(service, at, zone) : servicePorts(service, at)
  const isPort = before.length > 0 && before.every((label) => label.startsWith('_'))
  if (isPort) return portRecords(before, ports)
  if (before.length > 1) return undefined
  const hosts = isHeadless ? readyEndpoints(zone.view.slicesOf(namespace, name)) : []
  if (before.length === 1) {
    const data = hosts.filter(({ host }) => host === before[0]).flatMap(({ address }) => addressData(address) ?? [])
    return data.length > 0 ? { data } : undefined
  }
  const addresses = isHeadless ? hosts.map(({ address }) => address) : (service.spec.clusterIPs ?? [clusterIP])
  const data = [...new Set(addresses)].flatMap((address) => addressData(address) ?? [])
  if (type !== types.SRV) return { data }
  const srv = portRecords([], ports)
  return { data: [...data, ...(srv?.data ?? [])], additionals: srv?.additionals ?? [] }
}

/** One SRV record and the addresses of its target. */
interface Port {
  name: string
  protocol: string
  port: number
  target: readonly string[]
  addresses: readonly string[]
}

function portRecords(before: readonly string[], ports: readonly Port[]): Found {
  const [first, second] = before.map((label) => label.slice(1))
  if (before.length > 2) return undefined
  // `_tcp.web…` has names below it and no records of its own.
  if (before.length === 1) return ports.some(({ protocol }) => protocol === first) ? { data: [] } : undefined
  const chosen = ports.filter(({ name, protocol }) => before.length === 0 || (name === first && protocol === second))
  if (chosen.length === 0) return before.length === 0 ? { data: [] } : undefined
  const weight = Math.max(1, Math.floor(100 / chosen.length))
  const targets = new Map(chosen.map(({ target, addresses }) => [target.join('.'), { target, addresses }]))
  return {
    data: chosen.map(({ port, target }): RecordData => ({ type: 'SRV', priority: 0, weight, port, target })),
    additionals: [...targets.values()].flatMap(({ target, addresses }) =>
      addresses
        .flatMap((address) => addressData(address) ?? [])
        .map((data): DnsRecord => ({ name: target, ttl, data })),
    ),
  }
}

const servicePorts = ({ spec }: Service, at: readonly string[]): Port[] =>
  (spec.ports ?? []).map(({ name = '', protocol = 'TCP', port }) => ({
    name,
    protocol: protocol.toLowerCase(),
    port,
    target: at,
    addresses: spec.clusterIPs ?? [],
  }))

function headlessPorts({ metadata }: Service, at: readonly string[], { view }: Zone): Port[] {
  const found = new Map<string, Port>()
  for (const { slice, host, address } of readyEndpoints(view.slicesOf(metadata.namespace ?? '', metadata.name ?? ''))) {
    for (const { name = '', protocol = 'TCP', port } of slice.ports ?? []) {
      if (port === undefined) continue
      const key = `${name} ${protocol} ${port} ${host}`
      const before = found.get(key)
      found.set(key, {
        name,
        protocol: protocol.toLowerCase(),
        port,
        target: [host, ...at],
        addresses: [...(before?.addresses ?? []), address],
      })
    }
  }
  return [...found.values()]
}

const readyEndpoints = (slices: readonly EndpointSlice[]): { slice: EndpointSlice; host: string; address: string }[] =>
  slices
    .filter(({ addressType }) => addressType !== 'FQDN')
    .flatMap((slice) =>
      (slice.endpoints ?? [])
        .filter(({ conditions }) => conditions?.ready !== false)
        .flatMap((endpoint) =>
          endpoint.addresses.map((address) => ({ slice, host: hostOf(endpoint, address), address })),
        ),
    )

/** The name of an endpoint without a hostname is its address. */
const hostOf = ({ hostname }: Endpoint, address: string): string =>
  hostname?.toLowerCase() ?? address.replaceAll(/[.:]/g, '-')

function reverse(labels: readonly string[], { domain, view }: Zone): Found | 'elsewhere' {
  const ip = addressOf(labels)
  if (ip === undefined) return 'elsewhere'
  const services = view
    .servicesAt(ip)
    .map(({ metadata }) => [metadata.name ?? '', metadata.namespace ?? '', 'svc', ...domain])
  const endpoints = view.slicesAt(ip).flatMap((slice) => {
    const name = slice.metadata.labels?.[serviceLabel]
    const found = readyEndpoints([slice]).find(({ address }) => address === ip)
    return name && found ? [[found.host, name, slice.metadata.namespace ?? '', 'svc', ...domain]] : []
  })
  const names = services.length > 0 ? services : endpoints
  if (names.length > 0) return { data: names.map((target): RecordData => ({ type: 'PTR', target })) }
  // Queries for loopback addresses are never forwarded.
  return ip.startsWith('127.') || ip === '::1' ? undefined : 'elsewhere'
}

/** The address of a name below in-addr.arpa or ip6.arpa. */
function addressOf(labels: readonly string[]): string | undefined {
  const [zone, arpa] = labels.slice(-2)
  if (arpa !== 'arpa') return undefined
  const digits = labels.slice(0, -2).toReversed()
  if (zone === 'in-addr' && digits.length === 4 && digits.every((digit) => /^\d{1,3}$/.test(digit)))
    return digits.join('.')
  if (zone !== 'ip6' || digits.length !== 32 || !digits.every((digit) => /^[0-9a-f]$/.test(digit))) return undefined
  return formatIp('IPv6', BigInt(`0x${digits.join('')}`))
}

function addressData(text: string): RecordData | undefined {
  const ip = parseIp(text)
  if (!ip || ip.leadingZeros) return undefined
  const isV4 = ip.family === 'IPv4'
  const hex = ip.value.toString(16).padStart(isV4 ? 8 : 32, '0')
  return { type: isV4 ? 'A' : 'AAAA', address: Buffer.from(hex, 'hex') }
}
