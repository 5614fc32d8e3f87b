import { deepEqual } from '../../api/deep-equal.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../api/errors.ts'
import type { EndpointSlice, Lease } from '../../api/generated/types.ts'
import { ipFamilyOf, isRoutableIp } from '../../api/validation/ip.ts'
import { type Clock, steadyOf } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { ServerObjects } from '../objects/objects.ts'
import { leases } from '../resources/coordination/leases.ts'
import { endpointslices } from '../resources/discovery/endpointslices.ts'
import { microTime, millisecondsOf } from '../../api/object.ts'

interface LiveServersOptions {
  objects: ServerObjects
  /** The unique identity of this server. */
  identity: string
  /** The address for clients. */
  ip: string
  port: number
  /** Called with the addresses of all live servers when they change, such as `10.0.0.1 6443`. */
  onServers?(addresses: readonly string[]): void
  clock: Clock
  /** Measures durations. Default: `steadyOf(clock)`. */
  timers?: Clock
  logger: Logger
}

interface Sight {
  /** The time in the Lease. */
  renewal: string | undefined
  /** When its server was alive, by the clock of this one. */
  renewedMs: number
}

/** The renewal interval of a lease, and the time without renewal after which its server counts as gone. */
const renewMs = 5000
const expiryMs = 15_000
/** The clocks of two servers may differ by this much. */
const toleranceMs = 10_000
/** A lease that was not renewed for this long is deleted, as Kubernetes does with those of its own servers. */
const keptMs = 3_600_000
const namespace = 'kube-system'
const identityLabel = 'apiserver.kubernetes.io/identity'
const addressAnnotation = 'coxswain.io/api-address'

/**
 * Keeps the EndpointSlices of the Service `kubernetes` equal to the live API servers. Each server renews a Lease. A
 * server is live while others observe renewals, measured by clocks that nobody sets. Before a server has observed a
 * renewal, it relies on the time in the Lease.
 */
export class LiveServers {
  readonly #o: LiveServersOptions
  readonly #name: string
  readonly #timers: Clock
  /** The observed Leases by name. */
  #seen: ReadonlyMap<string, Sight> = new Map()
  #cancel: (() => void) | undefined
  #isStopped = false
  #told = ''

  constructor(options: LiveServersOptions) {
    this.#o = options
    this.#timers = options.timers ?? steadyOf(options.clock)
    this.#name = `apiserver-${options.identity}`
  }

  /** Joins the live servers and renews the Lease. */
  async start(): Promise<void> {
    await this.#renewAndPublish()
  }

  /** Leaves: the other servers remove its address. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel?.()
    try {
      await this.#o.objects.delete(leases, namespace, this.#name, {})
      await this.#publish()
    } catch (error) {
      if (!isNotFound(error)) this.#o.logger.warn('failed to release the lease of this server', { error })
    }
  }

  async #renewAndPublish(): Promise<void> {
    try {
      await this.#renew()
      await this.#publish()
      await this.#deleteAbandoned()
    } catch (error) {
      if (!this.#isStopped) this.#o.logger.warn('failed to read the leases of the API servers', { error })
    }
    if (!this.#isStopped) this.#cancel = this.#timers.after(renewMs, () => void this.#renewAndPublish())
  }

  async #renew(): Promise<void> {
    const { objects, clock, identity, ip, port } = this.#o
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: expiryMs / 1000,
      renewTime: microTime(clock.now()),
    }
    const metadata = {
      name: this.#name,
      namespace,
      labels: { [identityLabel]: 'kube-apiserver' },
      annotations: { [addressAnnotation]: `${ip} ${port}` },
    }
    try {
      await objects.update<Lease>(leases, namespace, this.#name, (copy) => ({
        ...copy,
        metadata: { ...copy.metadata, ...metadata },
        spec: { ...copy.spec, ...spec },
      }))
    } catch (e) {
      if (!isNotFound(e)) throw e
      await objects.create<Lease>(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
    }
  }

  /** The addresses of live servers, including loopback ones. */
  #live(): string[] {
    const seen = new Map<string, Sight>()
    const live: string[] = []
    for (const { metadata, spec } of this.#leases()) {
      const sight = this.#look(this.#seen.get(metadata.name!), spec?.renewTime)
      seen.set(metadata.name!, sight)
      if (this.#isLive(sight)) live.push(metadata.annotations![addressAnnotation]!)
    }
    this.#seen = seen
    return live.toSorted()
  }

  /** The Leases of servers of this program. */
  #leases(): Lease[] {
    return this.#o.objects
      .list<Lease>('coordination.k8s.io', 'leases', namespace)
      .filter(
        ({ metadata }) =>
          metadata.labels?.[identityLabel] !== undefined && metadata.annotations?.[addressAnnotation] !== undefined,
      )
  }

  #look(before: Sight | undefined, renewal: string | undefined): Sight {
    if (before) return before.renewal === renewal ? before : { renewal, renewedMs: this.#timers.now() }
    const differenceMs = Math.abs(this.#o.clock.now() - millisecondsOf(renewal))
    const isRecent = differenceMs < expiryMs + toleranceMs
    return { renewal, renewedMs: isRecent ? this.#timers.now() - Math.max(0, differenceMs - toleranceMs) : -Infinity }
  }

  #isLive({ renewedMs }: Sight): boolean {
    return this.#timers.now() - renewedMs < expiryMs
  }

  /** Deletes the Leases of servers that never came back. A server whose clock is behind renews its Lease before. */
  async #deleteAbandoned(): Promise<void> {
    const { objects, clock } = this.#o
    for (const { metadata, spec } of this.#leases()) {
      const sight = this.#seen.get(metadata.name!)
      const isOld = clock.now() - millisecondsOf(spec?.renewTime ?? metadata.creationTimestamp) > keptMs
      if (!isOld || !sight || this.#isLive(sight)) continue
      const preconditions = { resourceVersion: metadata.resourceVersion! }
      try {
        await objects.delete(leases, namespace, metadata.name!, { preconditions })
      } catch (e) {
        // Another server has deleted it, or its own has renewed it.
        if (!isNotFound(e) && !isConflict(e)) throw e
      }
    }
  }

  #tell(addresses: readonly string[]): void {
    if (addresses.join() === this.#told) return
    this.#told = addresses.join()
    this.#o.onServers?.(addresses)
  }

  async #publish(): Promise<void> {
    const { objects } = this.#o
    const live = this.#live()
    this.#tell(live)
    const wanted = slicesOf(byPort(live))
    const known = objects
      .list<EndpointSlice>('discovery.k8s.io', 'endpointslices', 'default')
      .filter(({ metadata }) => metadata.name === 'kubernetes' || metadata.name?.startsWith('kubernetes-port-'))
    for (const slice of wanted)
      await this.#put(
        slice,
        known.find(({ metadata }) => metadata.name === slice.metadata.name),
      )
    for (const { metadata } of known) {
      if (!wanted.some((slice) => slice.metadata.name === metadata.name))
        await objects.delete(endpointslices, 'default', metadata.name!, {})
    }
  }

  async #put(slice: EndpointSlice, known: EndpointSlice | undefined): Promise<void> {
    const { objects } = this.#o
    if (known && deepEqual([known.endpoints, known.ports], [slice.endpoints, slice.ports])) return
    try {
      if (known)
        await objects.update<EndpointSlice>(endpointslices, 'default', slice.metadata.name!, (copy) => ({
          ...copy,
          endpoints: slice.endpoints,
          ports: slice.ports!,
        }))
      else await objects.create(endpointslices, slice)
    } catch (e) {
      // Another server made the same change; the next pass reads the result.
      if (!isAlreadyExists(e) && !isNotFound(e)) throw e
    }
  }
}

/** Groups addresses by port, without loopback addresses. */
function byPort(addresses: readonly string[]): Map<number, string[]> {
  const found = new Map<number, string[]>()
  for (const address of addresses) {
    const [ip = '', port = ''] = address.split(' ')
    if (isRoutableIp(ip).length === 0) found.set(Number(port), [...(found.get(Number(port)) ?? []), ip])
  }
  return found
}

/** One slice per port; the lowest port's slice is named `kubernetes`. */
function slicesOf(live: ReadonlyMap<number, readonly string[]>): EndpointSlice[] {
  const ports = [...live.keys()].toSorted((a, b) => a - b)
  return ports.map((port, i) => {
    const addresses = live.get(port)!.toSorted()
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: i === 0 ? 'kubernetes' : `kubernetes-port-${port}`,
        namespace: 'default',
        labels: { 'kubernetes.io/service-name': 'kubernetes' },
      },
      addressType: ipFamilyOf(addresses[0]!) ?? 'IPv4',
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    }
  })
}
