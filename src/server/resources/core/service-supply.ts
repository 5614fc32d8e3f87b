import type { Random } from '../../../base/random.ts'
import { internalError } from '../../../api/errors.ts'
import type { Service } from '../../../api/generated/types.ts'
import type { IpFamily } from '../../../api/validation/ip.ts'
import type { ServerObjects } from '../../objects/objects.ts'
import { type AddressOwner, ServiceAddresses, staticBand } from './service-addresses.ts'
import { nodePortsOf } from './service-fields.ts'

/** From where services get their addresses and ports. */
export interface ServiceRanges {
  /** The network of cluster IPs. */
  clusterIps?: string
  /** First and last node port. */
  nodePorts?: readonly [number, number]
}

const defaultNodePorts = [30000, 32767] as const

/** The ranges, and the ports that are handed out and not yet stored: two requests under way never get the same. */
export class ServicePool {
  readonly random: Random
  readonly addresses: ServiceAddresses
  readonly nodePorts: readonly [number, number]
  readonly portsInFlight = new Set<number>()

  constructor(random: Random, ranges: ServiceRanges) {
    this.random = random
    this.addresses = new ServiceAddresses(random, ranges.clusterIps)
    this.nodePorts = ranges.nodePorts ?? defaultNodePorts
  }
}

/** What one request takes. Ports are read from the stored services: closing forgets the reservations, and what was not stored is free again. */
export class ServiceSupply {
  readonly #pool: ServicePool
  readonly #objects: ServerObjects
  readonly #dryRun: boolean
  readonly #owner: AddressOwner
  readonly #ips: string[] = []
  readonly #ports: number[] = []
  #used: Set<number> | undefined

  constructor(pool: ServicePool, objects: ServerObjects, owner: AddressOwner, dryRun: boolean) {
    this.#pool = pool
    this.#objects = objects
    this.#owner = owner
    this.#dryRun = dryRun
  }

  /** The families that services can have, the default first. */
  get families(): IpFamily[] {
    return this.#pool.addresses.families
  }

  /** Forgets the ports, and gives addresses back where the service was not stored. */
  close(committed: boolean): void | Promise<void> {
    if (this.#dryRun) return undefined
    for (const port of this.#ports.splice(0)) this.#pool.portsInFlight.delete(port)
    const ips = this.#ips.splice(0)
    if (committed || ips.length === 0) return undefined
    return Promise.all(ips.map((ip) => this.#pool.addresses.release(ip, this.#owner, this.#objects))).then(() => {})
  }

  /** Takes the address that was asked for; answers why it cannot be had. */
  async takeIp(text: string): Promise<string | undefined> {
    const why = await this.#pool.addresses.take(text, this.#owner, this.#objects, this.#dryRun)
    if (why === undefined) this.#ips.push(text)
    return why
  }

  /** Takes any address. */
  async takeNextIp(): Promise<string> {
    const ip = await this.#pool.addresses.takeNext(this.#owner, this.#objects, this.#dryRun)
    this.#ips.push(ip)
    return ip
  }

  /** How many node ports there are, free or not. */
  get nodePortCount(): number {
    const [first, last] = this.#pool.nodePorts
    return last - first + 1
  }

  /** Takes the node port that was asked for; answers why it cannot be had. */
  takePort(port: number): string | undefined {
    const [first, last] = this.#pool.nodePorts
    // A dry run does not look at the range: its own dummy numbers lie outside.
    if (!this.#dryRun && (port < first || port > last)) {
      return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
    }
    if (this.#isUsedPort(port) || this.#ports.includes(port)) return 'provided port is already allocated'
    this.#reservePort(port)
    return undefined
  }

  /** Takes any node port, for `what` in the error of a range without room. */
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

  /** A free place in [0, size): from a random start upwards in the upper part, then in the lower. */
  #pick(what: string, size: number, band: number, isFree: (i: number) => boolean): number {
    for (const [from, to] of [[band, size], [0, band]] as const) {
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
    return this.#pool.portsInFlight.has(port) || this.#stored().has(port)
  }

  #reservePort(port: number): void {
    this.#ports.push(port)
    if (!this.#dryRun) this.#pool.portsInFlight.add(port)
  }

  #stored(): Set<number> {
    if (this.#used) return this.#used
    const ports = new Set<number>()
    for (const service of this.#objects.list<Service>('', 'services', '')) {
      for (const port of nodePortsOf(service)) ports.add(port)
      if (service.spec?.healthCheckNodePort) ports.add(service.spec.healthCheckNodePort)
    }
    return (this.#used = ports)
  }
}
