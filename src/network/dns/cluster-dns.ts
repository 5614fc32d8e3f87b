import type { EndpointSlice, Service } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { InformerFactory, type SharedInformer, type Transport, endpointslices, services } from '../../client/index.ts'
import { serviceNameLabel } from '../routes/routes.ts'
import type { ClusterView } from './cluster-answers.ts'
import { DnsServer } from './dns-server.ts'
import { Upstream } from './upstream.ts'

export interface ClusterDnsOptions {
  transport: Transport
  clock: Clock
  random: Random
  logger?: Logger
  /** `cluster.local` */
  domain: string
  /** The address of the DNS server for pods. */
  address: string
  /** The upstream resolvers of this machine. */
  upstream: readonly string[]
  upstreamPort?: number
}

/** The DNS server of a cluster. It watches Services and EndpointSlices. */
export class ClusterDns {
  readonly server: DnsServer
  readonly #informers: InformerFactory

  constructor(options: ClusterDnsOptions) {
    const { transport, clock, random, logger = silentLogger, domain, address, upstream, upstreamPort } = options
    this.#informers = new InformerFactory({ transport, clock, random, logger, name: 'dns' })
    const view = viewOf(
      this.#informers.informer(services, {
        indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''], ip: ({ spec }) => spec.clusterIPs ?? [] },
      }),
      this.#informers.informer(endpointslices, {
        indexes: { service: serviceOf, ip: ({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses) },
      }),
    )
    // The server's own address is no upstream resolver, because queries would loop.
    const servers = upstream.filter((server) => server !== address)
    this.server = new DnsServer({
      zone: { domain: domain.toLowerCase().split('.'), server: address, view },
      upstream: new Upstream({ servers, clock, random, ...(upstreamPort ? { port: upstreamPort } : {}) }),
    })
  }

  start(): void {
    this.#informers.start()
  }

  synced(): Promise<void> {
    return this.#informers.waitForSync()
  }

  problems(): string[] {
    return this.#informers.problems()
  }

  stop(): void {
    this.server.close()
    this.#informers.stop()
  }
}

const serviceOf = ({ metadata: { namespace = '', labels } }: EndpointSlice): string[] => {
  const name = labels?.[serviceNameLabel]
  return name ? [`${namespace}/${name}`] : []
}

const viewOf = (serviceCache: SharedInformer<Service>, sliceCache: SharedInformer<EndpointSlice>): ClusterView => ({
  service: (namespace, name) => serviceCache.get(`${namespace}/${name}`),
  slicesOf: (namespace, name) => sliceCache.byIndex('service', `${namespace}/${name}`),
  hasServices: (namespace) => serviceCache.byIndex('namespace', namespace).length > 0,
  servicesAt: (ip) => serviceCache.byIndex('ip', ip),
  slicesAt: (ip) => sliceCache.byIndex('ip', ip),
})
