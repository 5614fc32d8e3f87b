import type { Random } from '../../../../base/random.ts'
import { internalError } from '../../../../api/errors.ts'
import type { Service } from '../../../../api/generated/types.ts'
import type { FieldError } from '../../../../api/validation/field-error.ts'
import type { IpFamily } from '../../../../api/validation/ip.ts'
import type { ServerObjects } from '../../../objects/objects.ts'
import type { NodePortClaims, PortClaim, PortOwner } from './node-port-claims.ts'
import { ServiceAddresses, staticBand } from './service-addresses.ts'
import { portsOnNodesOf } from './service-fields.ts'

/** The ranges of cluster IPs and node ports. */
export interface ServiceRanges {
  /** The CIDR of cluster IPs. */
  clusterIps?: string
  /** First and last node port. */
  nodePorts?: readonly [number, number]
}

const defaultNodePorts = [30000, 32767] as const

/**
 * The ranges and the reserved ports, which are allocated but not stored: no two concurrent requests of this server get
 * the same port.
 */
export class ServicePool {
  readonly random: Random
  readonly addresses: ServiceAddresses
  readonly nodePorts: readonly [number, number]
  readonly portsInFlight = new Set<number>()
  /** Set if other servers allocate ports too. */
  claims: NodePortClaims | undefined
  /** Pending releases. */
  readonly #releases = new Set<Promise<unknown>>()

  constructor(random: Random, ranges: ServiceRanges) {
    this.random = random
    this.addresses = new ServiceAddresses(random, ranges.clusterIps)
    this.nodePorts = ranges.nodePorts ?? defaultNodePorts
  }

  /** Tracks a release until it is done. */
  releasing(done: Promise<void>): void {
    const ended = done.catch(() => {}).finally(() => this.#releases.delete(ended))
    this.#releases.add(ended)
  }

  /** Resolves when all currently pending releases are done. */
  released(): Promise<unknown> | undefined {
    return this.#releases.size > 0 ? Promise.all(this.#releases) : undefined
  }
}

/**
 * The allocations of one request. Used ports are read from stored services: closing drops the reservations, so that a
 * port that was not stored is free again.
 */
export class ServiceSupply {
  readonly #pool: ServicePool
  readonly #objects: ServerObjects
  readonly #dryRun: boolean
  readonly #owner: PortOwner
  readonly #ips: string[] = []
  readonly #ports: number[] = []
  readonly #claims: PortClaim[] = []
  /** Ports claimed for Services that this server has not observed yet. */
  readonly #elsewhere = new Set<number>()
  #used: Set<number> | undefined

  constructor(pool: ServicePool, objects: ServerObjects, owner: PortOwner, dryRun: boolean) {
    this.#pool = pool
    this.#objects = objects
    this.#owner = owner
    this.#dryRun = dryRun
  }

  /** The IP families of services, the default first. */
  get families(): IpFamily[] {
    return this.#pool.addresses.families
  }

  /** Drops the port reservations, and releases the claims if the service was not stored. */
  close(committed: boolean): void | Promise<void> {
    if (this.#dryRun) return undefined
    const ips = this.#ips.splice(0)
    if (committed) this.#claims.length = 0
    const claims = this.#returnPorts()
    if (committed || ips.length + claims.length === 0) return undefined
    const addresses = ips.map((ip) => this.#pool.addresses.release(ip, this.#owner, this.#objects))
    return Promise.all([...addresses, ...claims]).then(() => {})
  }

  /**
   * Reserves ports by the state of this server, and claims them if other servers allocate ports. If a claim fails,
   * `undo` restores the service and `take` runs again, with that port in use.
   */
  withPorts(take: () => FieldError[], undo: () => void): FieldError[] | Promise<FieldError[]> {
    const errors = take()
    if (errors.length > 0 || this.#dryRun || !this.#pool.claims || this.#ports.length === 0) return errors
    return this.#claimPorts(this.#pool.claims).then(async (areOurs) => {
      if (areOurs) return []
      undo()
      await Promise.all(this.#returnPorts())
      return this.withPorts(take, undo)
    })
  }

  async #claimPorts(claims: NodePortClaims): Promise<boolean> {
    const taken = await Promise.all(this.#ports.map(async (port) => (await claims.take(port, this.#owner)) ?? port))
    for (const one of taken) {
      if (typeof one === 'number') this.#elsewhere.add(one)
      else this.#claims.push(one)
    }
    return taken.every((one) => typeof one !== 'number')
  }

  #returnPorts(): Promise<void>[] {
    for (const port of this.#ports.splice(0)) this.#pool.portsInFlight.delete(port)
    return this.#claims.splice(0).map((claim) => this.#pool.claims!.release(claim))
  }

  /** Claims the requested address. Resolves with the error, if any. */
  async takeIp(text: string): Promise<string | undefined> {
    const taken = await this.#pool.addresses.take(text, this.#owner, this.#objects, this.#dryRun)
    if (taken.refusal === undefined && taken.isNew) this.#ips.push(text)
    return taken.refusal
  }

  /** Claims any address. */
  async takeNextIp(): Promise<string> {
    const ip = await this.#pool.addresses.takeNext(this.#owner, this.#objects, this.#dryRun)
    this.#ips.push(ip)
    return ip
  }

  /** The size of the node port range. */
  get nodePortCount(): number {
    const [first, last] = this.#pool.nodePorts
    return last - first + 1
  }

  /** Reserves the requested node port. Returns the error, if any. */
  takePort(port: number): string | undefined {
    const [first, last] = this.#pool.nodePorts
    // A dry run ignores the range, because its dummy numbers are outside.
    if (!this.#dryRun && (port < first || port > last)) {
      return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
    }
    if (this.#isUsedPort(port) || this.#ports.includes(port)) return 'provided port is already allocated'
    this.#reservePort(port)
    return undefined
  }

  /** Reserves any node port. `what` is named in the error of a full range. */
  takeNextPort(what: string): number {
    const [first, last] = this.#pool.nodePorts
    if (this.#dryRun) {
      const dummy = Math.max(0, ...this.#ports, ...(this.#ports.length ? [] : [last + 1])) + 1
      this.#reservePort(dummy)
      return dummy
    }
    const size = last - first + 1
    const port = first + this.#pick(what, size, staticBand(size, 32, 128), (i) => !this.#isUsedPort(first + i))
    this.#reservePort(port)
    return port
  }

  /** Returns a free index in [0, size): in the upper part from a random start, then in the lower part. */
  #pick(what: string, size: number, band: number, isFree: (i: number) => boolean): number {
    for (const [from, to] of [
      [band, size],
      [0, band],
    ] as const) {
      const width = to - from
      const start = Math.floor(this.#pool.random.next() * width)
      for (let i = 0; i < width; i++) {
        const at = from + ((start + i) % width)
        if (isFree(at)) return at
      }
    }
    throw internalError(`failed to allocate a ${what}: range is full`)
  }

  #isUsedPort(port: number): boolean {
    return this.#pool.portsInFlight.has(port) || this.#elsewhere.has(port) || this.#stored().has(port)
  }

  #reservePort(port: number): void {
    this.#ports.push(port)
    if (!this.#dryRun) this.#pool.portsInFlight.add(port)
  }

  #stored(): Set<number> {
    if (this.#used) return this.#used
    const ports = new Set<number>()
    for (const service of this.#objects.list<Service>('', 'services', '')) {
      for (const port of portsOnNodesOf(service)) ports.add(port)
    }
    return (this.#used = ports)
  }
}
