import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Route, Target } from '../routes/routes.ts'
import { Balancer } from './balancer.ts'
import type { Forwarder } from './forwarder.ts'
import { TcpForwarder } from './tcp-forwarder.ts'
import { UdpForwarder } from './udp-forwarder.ts'

interface ServiceForwardingOptions {
  clock: Clock
  random: Random
  /** The node addresses on which node ports are opened. */
  nodeAddresses: readonly string[]
  /** Ports that other programs have opened: `UDP 127.128.0.10:53`. */
  isReserved?(listener: string): boolean
  /** Called when the port of a Service cannot be opened. It is retried. */
  failed(route: Route, at: Target, error: NodeJS.ErrnoException): void
}

/** The minimum and maximum back-off before a port is opened again. */
const retry = { firstMs: 500, longestMs: 15_000 }

type State = { kind: 'opening' } | { kind: 'open' } | { kind: 'waiting'; cancel(): void } | { kind: 'closed' }

interface Listener {
  route: Route
  at: Target
  balancer: Balancer
  forwarder: Forwarder
  state: State
  retryMs: number
  /** The last failure that was reported. */
  told: string
}

/**
 * Opens a port of this machine for each Service port with endpoints and forwards its connections. A Service without
 * endpoints has no open port, so its clients get a connection refused, as in Kubernetes.
 */
export class ServiceForwarding {
  readonly #options: ServiceForwardingOptions
  readonly #listeners = new Map<string, Listener>()
  /** The listeners of each Service. */
  readonly #keys = new Map<string, ReadonlySet<string>>()
  /** Closing forwarders that still have connections. */
  readonly #draining = new Set<Forwarder>()

  constructor(options: ServiceForwardingOptions) {
    this.#options = options
  }

  /** Replaces the routes of a Service; an empty list removes them. */
  update(service: string, routes: readonly Route[]): void {
    const wanted = new Map(routes.flatMap((route) => this.#listenersOf(route)).map((one) => [one.key, one]))
    for (const key of this.#keys.get(service) ?? []) if (!wanted.has(key)) this.#close(key)
    for (const { key, route, at, targets } of wanted.values()) {
      const listener = this.#listeners.get(key) ?? this.#open(key, route, at)
      listener.route = route
      listener.balancer.update(targets, route.affinityMs)
      listener.forwarder.targetsChanged?.()
    }
    if (wanted.size === 0) this.#keys.delete(service)
    else this.#keys.set(service, new Set(wanted.keys()))
  }

  /** The numbers of open ports and forwarded connections. */
  get size(): { listeners: number; connections: number } {
    const forwarders = [...[...this.#listeners.values()].map(({ forwarder }) => forwarder), ...this.#draining]
    const listeners = [...this.#listeners.values()].filter(({ state }) => state.kind === 'open').length
    return { listeners, connections: forwarders.reduce((sum, { connections }) => sum + connections, 0) }
  }

  close(): void {
    for (const key of this.#listeners.keys()) this.#close(key)
    for (const forwarder of this.#draining) forwarder.close()
    this.#draining.clear()
    this.#keys.clear()
  }

  #listenersOf(route: Route): { key: string; route: Route; at: Target; targets: readonly Target[] }[] {
    const { protocol, clusterIps, port, nodePort, internal, external } = route
    const { nodeAddresses, isReserved } = this.#options
    const one = (targets: readonly Target[]) => (at: Target) => ({
      key: `${protocol} ${at.address}:${at.port}`,
      route,
      at,
      targets,
    })
    return [
      ...clusterIps.map((address) => ({ address, port })).map(one(internal)),
      ...(nodePort === undefined
        ? []
        : nodeAddresses.map((address) => ({ address, port: nodePort })).map(one(external))),
    ].filter(({ key, targets }) => targets.length > 0 && !isReserved?.(key))
  }

  #open(key: string, route: Route, at: Target): Listener {
    const balancer = new Balancer(this.#options.clock, this.#options.random)
    const listener: Listener = {
      route,
      at,
      balancer,
      forwarder: this.#forwarderFor(route, balancer),
      state: { kind: 'opening' },
      retryMs: retry.firstMs,
      told: '',
    }
    this.#listeners.set(key, listener)
    void this.#listen(key, listener)
    return listener
  }

  #forwarderFor({ protocol }: Route, balancer: Balancer): Forwarder {
    return protocol === 'TCP' ? new TcpForwarder(balancer) : new UdpForwarder(balancer, this.#options.clock)
  }

  async #listen(key: string, listener: Listener): Promise<void> {
    const { failed, clock } = this.#options
    const isWanted = () => this.#listeners.get(key) === listener
    const { forwarder } = listener
    listener.state = { kind: 'opening' }
    try {
      await forwarder.listen(listener.at)
      if (!isWanted()) return forwarder.close()
      listener.state = { kind: 'open' }
      listener.told = ''
    } catch (e) {
      if (!isWanted()) return
      const error = e as NodeJS.ErrnoException
      if (listener.told !== error.code) failed(listener.route, listener.at, error)
      listener.told = error.code ?? ''
      listener.forwarder = this.#forwarderFor(listener.route, listener.balancer)
      listener.state = {
        kind: 'waiting',
        cancel: clock.after(listener.retryMs, () => void this.#listen(key, listener)),
      }
      listener.retryMs = Math.min(listener.retryMs * 2, retry.longestMs)
    }
  }

  /** Open connections continue until the client or the endpoint closes them. */
  #close(key: string): void {
    const { state, forwarder } = this.#listeners.get(key)!
    this.#listeners.delete(key)
    if (state.kind === 'waiting') state.cancel()
    if (state.kind !== 'open') return
    forwarder.stopListening()
    for (const drained of this.#draining) if (drained.connections === 0) this.#draining.delete(drained)
    if (forwarder.connections > 0) this.#draining.add(forwarder)
  }
}

/** The event message for a port that could not be opened. */
export function openFailure(
  { protocol }: Route,
  { address, port }: Target,
  { code, message }: NodeJS.ErrnoException,
): { reason: string; message: string } {
  const what = `cannot open ${protocol} port ${port} on ${address}`
  if (code === 'EADDRINUSE') {
    return {
      reason: 'PortInUse',
      message: `${what}: another program of this machine already listens on it and receives its traffic`,
    }
  }
  if (code === 'EACCES') {
    return {
      reason: 'PortNotPermitted',
      message: `${what}: the user of the node may not open ports below 1024`,
    }
  }
  if (code === 'EADDRNOTAVAIL') {
    return { reason: 'AddressNotServed', message: `${what}: the address does not belong to this machine` }
  }
  return { reason: 'PortNotOpened', message: `${what}: ${message}` }
}
