import type { Random } from '../../../base/random.ts'
import { internalError } from '../../../api/errors.ts'
import type { Service } from '../../../api/generated/types.ts'
import { type Cidr, type IpFamily, cidrContains, formatCidr, formatIp, parseCidr, parseIp } from '../../../api/validation/ip.ts'
import type { ObjectReader } from '../../objects.ts'
import { nodePortsOf } from './service-fields.ts'

/** From where services get their addresses and ports. */
export interface ServiceRanges {
  /** The network of cluster IPs. */
  clusterIps?: string
  /** First and last node port. */
  nodePorts?: readonly [number, number]
}

const defaultClusterIps = '10.0.0.0/24'
const defaultNodePorts = [30000, 32767] as const

/** The lower part of a range is left for those who ask for a number: at least 16, a share of the whole, at most `max`. */
const staticBand = (size: number, share: number, max: number) => (size <= 16 ? 0 : Math.min(Math.max(16, Math.trunc(size / share)), max))

/** The ranges, and what of them is handed out and not yet stored: two requests under way never get the same. */
export class ServicePool {
  readonly random: Random
  readonly cidr: Cidr
  readonly nodePorts: readonly [number, number]
  readonly ipsInFlight = new Set<string>()
  readonly portsInFlight = new Set<number>()

  constructor(random: Random, ranges: ServiceRanges) {
    const cidr = parseCidr(ranges.clusterIps ?? defaultClusterIps)
    if (!cidr) throw new Error(`not a range of service addresses: ${ranges.clusterIps}`)
    this.random = random
    this.cidr = cidr
    this.nodePorts = ranges.nodePorts ?? defaultNodePorts
  }
}

/** What one request takes. Closing it forgets the reservations: by then what was stored is seen as used, and the rest is free again. */
export class ServiceSupply {
  readonly #pool: ServicePool
  readonly #reader: ObjectReader
  readonly #dryRun: boolean
  readonly #ips: string[] = []
  readonly #ports: number[] = []
  #used: { ips: Set<string>; ports: Set<number> } | undefined

  constructor(pool: ServicePool, reader: ObjectReader, dryRun: boolean) {
    this.#pool = pool
    this.#reader = reader
    this.#dryRun = dryRun
  }

  /** The families that services can have, the default first. */
  get families(): IpFamily[] {
    return [this.#pool.cidr.address.family]
  }

  close(): void {
    if (this.#dryRun) return
    for (const ip of this.#ips.splice(0)) this.#pool.ipsInFlight.delete(ip)
    for (const port of this.#ports.splice(0)) this.#pool.portsInFlight.delete(port)
  }

  /** Takes the address that was asked for; answers why it cannot be had. */
  takeIp(text: string): string | undefined {
    const { cidr } = this.#pool
    const ip = parseIp(text)!
    if (!cidrContains(cidr, ip)) return 'the provided network does not match the current range'
    const { first, last } = this.#ipRange()
    if (ip.value < first || ip.value > last) {
      return `the provided IP (${formatIp(ip.family, ip.value)}) is not in the valid range. The range of valid IPs is ${formatCidr(cidr)}`
    }
    if (this.#dryRun) return undefined
    const canonical = formatIp(ip.family, ip.value)
    if (this.#isUsedIp(canonical)) return 'provided IP is already allocated'
    this.#reserveIp(canonical)
    return undefined
  }

  /** Takes any address, from the upper part of the range while there is one. A dry run gets the network's own, which nobody has. */
  takeNextIp(): string {
    const { cidr } = this.#pool
    const family = cidr.address.family
    if (this.#dryRun) return formatIp(family, cidr.network)
    const { first, last } = this.#ipRange()
    const size = Number(last - first) + 1
    const band = staticBand(size + 2, 16, 256)
    const offset = this.#pick('serviceIP', size, band, (i) => !this.#isUsedIp(formatIp(family, first + BigInt(i))))
    const ip = formatIp(family, first + BigInt(offset))
    this.#reserveIp(ip)
    return ip
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

  #ipRange(): { first: bigint; last: bigint } {
    const { network, prefix, address } = this.#pool.cidr
    const isIpv4 = address.family === 'IPv4'
    const size = 1n << BigInt((isIpv4 ? 32 : 128) - prefix)
    // Neither the network's own address nor, in IPv4, its broadcast address.
    return { first: network + 1n, last: network + size - (isIpv4 ? 2n : 1n) }
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

  #isUsedIp(ip: string): boolean {
    return this.#pool.ipsInFlight.has(ip) || this.#stored().ips.has(ip)
  }

  #isUsedPort(port: number): boolean {
    return this.#pool.portsInFlight.has(port) || this.#stored().ports.has(port)
  }

  #reserveIp(ip: string): void {
    this.#ips.push(ip)
    if (!this.#dryRun) this.#pool.ipsInFlight.add(ip)
  }

  #reservePort(port: number): void {
    this.#ports.push(port)
    if (!this.#dryRun) this.#pool.portsInFlight.add(port)
  }

  #stored(): { ips: Set<string>; ports: Set<number> } {
    if (this.#used) return this.#used
    const [ips, ports] = [new Set<string>(), new Set<number>()]
    for (const service of this.#reader.list<Service>('', 'services', '')) {
      for (const text of service.spec?.clusterIPs ?? []) {
        const ip = parseIp(text)
        if (ip) ips.add(formatIp(ip.family, ip.value))
      }
      for (const port of nodePortsOf(service)) ports.add(port)
      if (service.spec?.healthCheckNodePort) ports.add(service.spec.healthCheckNodePort)
    }
    return (this.#used = { ips, ports })
  }
}
