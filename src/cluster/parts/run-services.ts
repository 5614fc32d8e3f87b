import { createHash } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { readFileSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import path from 'node:path'
import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { systemRandom } from '../../base/random.ts'
import { readResolvConf } from '../../base/resolv-conf.ts'
import { Client, type New, type Service, type Transport, isNotFound, services } from '../../client/index.ts'
import {
  ClusterDns,
  NftablesBackend,
  type ServiceBackend,
  ServiceForwarding,
  ServiceProxy,
  type ServiceReports,
  type Target,
  openFailure,
} from '../../network/index.ts'
import type { NodeDns } from '../../node/index.ts'
import type { Part } from './run-part.ts'
import { type DnsFlags, dnsAddressOf, isLoopbackRange } from '../serving/service-range.ts'

/** The cluster DNS server, and the DNS settings of the nodes. */
export interface RunningDns {
  part: Part | undefined
  node: NodeDns
  /** The address at which the server listens, if it is not the cluster IP itself. */
  endpoint: Target | undefined
}

export interface DnsOptions {
  flags: DnsFlags
  /** Transport with the identity of the DNS server. */
  transport: Transport
  range: string
  logger: Logger
}

const loopback = '127.0.0.1'
const dnsPort = 53
/** Port to use if this user may not bind port 53. A resolv.conf cannot contain a port. */
const unprivilegedDnsPort = 10_053

/** Opens the DNS server at the tenth address of the Service range. Without it pods use the DNS of the machine. */
export async function openClusterDns({ flags, transport, range, logger }: DnsOptions): Promise<RunningDns> {
  const { domain, resolvConf } = flags
  const node = { servers: [] as string[], domain, machine: () => readResolvConf(resolvConf) }
  if (!flags.isServed) return { part: undefined, node, endpoint: undefined }
  const address = dnsAddressOf(range)
  // A cluster IP outside the loopback range is no address of this machine: nftables leads it to the server.
  const isRouted = !isLoopbackRange(range)
  const tools = { clock: systemClock, random: systemRandom, logger }
  const dns = new ClusterDns({ ...tools, transport, domain, address, upstream: readResolvConf(resolvConf).servers })
  const port = isRouted ? await dns.server.listen(loopback, 0) : await listen(dns, address, logger)
  if (port === undefined) {
    if (await answers(address, domain)) node.servers.push(address)
    else logger.warn('cluster DNS is not available: the DNS server cannot listen', { address, port: dnsPort })
    dns.stop()
    return { part: undefined, node, endpoint: undefined }
  }
  if (isRouted || port === dnsPort) node.servers.push(address)
  const client = new Client(transport, { clock: systemClock, random: systemRandom })
  const part = partOf({
    start: async () => {
      dns.start()
      await Promise.all([dns.synced(), keepDnsService(client, address, logger)])
    },
    problems: () => dns.problems(),
    stop: async () => dns.stop(),
  })
  return { part, node, endpoint: isRouted ? { address: loopback, port } : undefined }
}

async function listen(dns: ClusterDns, address: string, logger: Logger): Promise<number | undefined> {
  try {
    return await dns.server.listen(address, dnsPort)
  } catch (e) {
    const error = e as NodeJS.ErrnoException
    if (error.code !== 'EACCES') return undefined
  }
  try {
    const port = await dns.server.listen(address, unprivilegedDnsPort)
    const why = 'this user may not open ports below 1024, and resolv.conf cannot name another port'
    logger.warn(`cluster DNS listens at ${address} port ${port}, but pods do not use it: ${why}`)
    return port
  } catch {
    return undefined
  }
}

/** Returns true if another server of the same cluster on this machine already serves the domain. */
async function answers(address: string, domain: string): Promise<boolean> {
  const resolver = new Resolver({ timeout: 1000, tries: 1 })
  resolver.setServers([address])
  return resolver.resolveTxt(`dns-version.${domain}`).then(
    (records) => records.length > 0,
    () => false,
  )
}

const managedByLabel = 'app.kubernetes.io/managed-by'

const dnsService = (address: string): New<Service> => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kube-dns',
    namespace: 'kube-system',
    labels: {
      'k8s-app': 'kube-dns',
      'kubernetes.io/cluster-service': 'true',
      'kubernetes.io/name': 'CoreDNS',
      [managedByLabel]: 'coxswain',
    },
  },
  spec: {
    clusterIP: address,
    clusterIPs: [address],
    ports: [
      { name: 'dns', port: dnsPort, protocol: 'UDP', targetPort: dnsPort },
      { name: 'dns-tcp', port: dnsPort, protocol: 'TCP', targetPort: dnsPort },
    ],
  },
})

/** Creates the kube-dns Service. A Service that already exists is not changed. */
async function keepDnsService(client: Client, address: string, logger: Logger): Promise<void> {
  const wanted = dnsService(address)
  try {
    const found = await client.get(services, 'kube-system', 'kube-dns').catch((e: unknown) => {
      if (isNotFound(e)) return undefined
      throw e
    })
    if (found?.spec.clusterIP === address) return
    if (found && found.metadata.labels?.[managedByLabel] !== 'coxswain') {
      logger.warn('the Service kube-dns has another owner and is not changed', {
        clusterIP: found.spec.clusterIP,
      })
      return
    }
    if (found) await client.delete(services, 'kube-system', 'kube-dns')
    await client.create(services, wanted)
  } catch (error) {
    logger.warn('failed to create the Service kube-dns; the DNS server runs without it', { address, error })
  }
}

/** Implementations of Services: a forwarder, for pods on the loopback interface, or nftables rules. */
export type ProxyKind = 'forwarding' | 'nftables'

export interface ServiceProxyPartOptions {
  kind: ProxyKind
  /** Transport with the identity of kube-proxy. */
  transport: Transport
  nodeName: string
  apiServer: URL
  /** The cluster DNS server, if it does not listen at its cluster IP. */
  dns: Target | undefined
  dataDir: string
  range: string
  logger: Logger
}

/** Implements Services on this node. */
export function serviceProxyPart(options: ServiceProxyPartOptions): Part {
  const { transport, nodeName, apiServer, logger } = options
  const proxy = new ServiceProxy({
    transport,
    clock: systemClock,
    random: systemRandom,
    logger,
    origin: { nodeName, zone: undefined },
    fixed: {
      'default/kubernetes': {
        address: apiServer.hostname.replace(/^\[|\]$/g, ''),
        port: Number(apiServer.port || '443'),
      },
      ...(options.dns ? { 'kube-system/kube-dns': options.dns } : {}),
    },
    backend: (reports) => (options.kind === 'forwarding' ? forwarding(options, reports) : rules(options)),
  })
  return partOf({
    start: async () => {
      proxy.start()
      await proxy.synced()
    },
    problems: () => proxy.problems(),
    stop: () => proxy.stop(),
  })
}

function forwarding({ range }: ServiceProxyPartOptions, { warn }: ServiceReports): ServiceBackend {
  const dnsListeners = ['TCP', 'UDP'].map((protocol) => `${protocol} ${dnsAddressOf(range)}:${dnsPort}`)
  return new ServiceForwarding({
    clock: systemClock,
    random: systemRandom,
    nodeAddresses: ['127.0.0.1'],
    isReserved: (listener) => dnsListeners.includes(listener),
    failed(route, at, error) {
      const { reason, message } = openFailure(route, at, error)
      warn(route, reason, message)
    },
  })
}

/** Returns the nftables table of a data directory. */
const tableOf = (dataDir: string): string =>
  `coxswain-${createHash('sha256').update(path.resolve(dataDir)).digest('hex').slice(0, 12)}`

const rules = ({ dataDir, range, logger }: ServiceProxyPartOptions): ServiceBackend =>
  new NftablesBackend({
    clock: systemClock,
    logger,
    table: tableOf(dataDir),
    ranges: [range],
    keepsClientAddress: bridgesAreFiltered(),
    networks: linkNetworks,
    routeLoopback: () => routeLoopback(logger),
  })

const linkNetworks = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.flatMap(({ family, internal, cidr }) => (family === 'IPv4' && !internal && cidr ? [cidr] : [])),
  )

const loopbackRouting = '/proc/sys/net/ipv4/conf/all/route_localnet'

/** Lets packets of other interfaces reach loopback addresses, as kube-proxy does. Returns the undo. */
function routeLoopback(logger: Logger): () => void {
  try {
    const before = readFileSync(loopbackRouting, 'utf8')
    if (before.trim() === '1') return () => {}
    writeFileSync(loopbackRouting, '1')
    return () => writeFileSync(loopbackRouting, before)
  } catch (error) {
    logger.warn('pods cannot reach the API server and the cluster DNS: packets to loopback addresses are not routed', {
      error,
    })
    return () => {}
  }
}

/** Returns true if packets between pods on one bridge pass through nftables, too (br_netfilter). */
function bridgesAreFiltered(): boolean {
  try {
    return readFileSync('/proc/sys/net/bridge/bridge-nf-call-iptables', 'utf8').trim() === '1'
  } catch {
    return false
  }
}

function partOf({ start, problems, stop }: Pick<Part, 'problems' | 'stop'> & { start(): Promise<void> }): Part {
  let role: Part['role'] = { kind: 'unknown' }
  let started: Promise<void> | undefined
  return {
    get role() {
      return role
    },
    problems,
    start() {
      started = start().then(() => void (role = { kind: 'acting' }))
      return started
    },
    async roleKnown() {
      await started
      return role
    },
    stop,
  }
}
