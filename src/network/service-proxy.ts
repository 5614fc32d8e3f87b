import type { EndpointSlice, Service } from '../api/generated/types.ts'
import type { Clock } from '../base/clock.ts'
import { type Logger, silentLogger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import {
  Client,
  EventRecorder,
  InformerFactory,
  type SharedInformer,
  type Transport,
  endpointslices,
  services,
} from '../client/index.ts'
import { type Origin, type Route, type Target, routesOf, serviceNameLabel } from './routes/routes.ts'

/** Routes the traffic of Services to their endpoints. */
export interface ServiceBackend {
  /** Replaces the routes of a Service; an empty list removes them. */
  update(service: string, routes: readonly Route[]): void
  close(): void | Promise<void>
}

/** Receives reports of a backend. */
export interface ServiceReports {
  /** An event about a Service. */
  warn(route: Route, reason: string, message: string): void
}

export interface ServiceProxyOptions {
  transport: Transport
  clock: Clock
  random: Random
  logger?: Logger
  origin: Origin
  /** The endpoints, by `namespace/name`, of Services without EndpointSlices, which the control plane serves itself. */
  fixed?: Readonly<Record<string, Target>>
  backend(reports: ServiceReports): ServiceBackend
}

const sliceIndex = 'service'

/** Watches Services and EndpointSlices and updates the backend, like kube-proxy. */
export class ServiceProxy {
  readonly #options: ServiceProxyOptions
  readonly #informers: InformerFactory
  readonly #services: SharedInformer<Service>
  readonly #slices: SharedInformer<EndpointSlice>
  readonly #events: EventRecorder
  readonly #backend: ServiceBackend
  readonly #changed = new Set<string>()
  #isScheduled = false
  #isStopped = false

  constructor(options: ServiceProxyOptions) {
    const { transport, clock, random, logger = silentLogger, origin } = options
    this.#options = options
    this.#informers = new InformerFactory({ transport, clock, random, logger, name: 'service-proxy' })
    this.#services = this.#informers.informer(services)
    this.#slices = this.#informers.informer(endpointslices, { indexes: { [sliceIndex]: serviceKeyOf } })
    this.#events = new EventRecorder(new Client(transport, { clock, random }), {
      component: 'kube-proxy',
      host: origin.nodeName,
      clock,
      random,
      logger,
    })
    this.#backend = options.backend({ warn: (route, reason, message) => this.#warn(route, reason, message) })
    const changed = ({ metadata: { namespace = '', name = '' } }: Service) => this.#mark(`${namespace}/${name}`)
    const sliceChanged = (slice: EndpointSlice) => serviceKeyOf(slice).forEach((key) => this.#mark(key))
    this.#services.addHandler({ add: changed, update: (_, service) => changed(service), delete: changed })
    this.#slices.addHandler({
      add: sliceChanged,
      update: (old, slice) => {
        sliceChanged(old)
        sliceChanged(slice)
      },
      delete: sliceChanged,
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

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#informers.stop()
    this.#events.close()
    await this.#backend.close()
  }

  /** Applies all changes of one turn of the event loop together. */
  #mark(key: string): void {
    this.#changed.add(key)
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => this.#apply())
  }

  #apply(): void {
    this.#isScheduled = false
    if (this.#isStopped) return
    for (const key of this.#changed) {
      const service = this.#services.get(key)
      this.#backend.update(key, service ? this.#routesOf(key, service) : [])
    }
    this.#changed.clear()
  }

  #routesOf(key: string, service: Service): Route[] {
    const { origin, fixed } = this.#options
    const routes = routesOf(service, this.#slices.byIndex(sliceIndex, key), origin)
    const target = fixed?.[key]
    if (!target) return routes
    const targets = [target]
    return routes.map((route) =>
      route.internal.length > 0 ? route : { ...route, internal: targets, external: targets },
    )
  }

  #warn({ namespace, name }: Route, reason: string, message: string): void {
    const { logger = silentLogger } = this.#options
    logger.warn(message, { service: `${namespace}/${name}`, reason })
    const service = this.#services.get(`${namespace}/${name}`)
    if (!service) return
    const { uid, resourceVersion } = service.metadata
    this.#events.event(
      { apiVersion: 'v1', kind: 'Service', name, namespace, uid, resourceVersion },
      'Warning',
      reason,
      message,
    )
  }
}

function serviceKeyOf({ metadata: { namespace = '', labels } }: EndpointSlice): string[] {
  const name = labels?.[serviceNameLabel]
  return name ? [`${namespace}/${name}`] : []
}
