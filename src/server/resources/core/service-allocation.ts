import type { Random } from '../../../base/random.ts'
import { internalError } from '../../../api/errors.ts'
import type { Service } from '../../../api/generated/types.ts'
import { type FieldError, forbidden, invalid } from '../../../api/validation/field-error.ts'
import { type Cidr, cidrContains, formatCidr, formatIp, parseCidr, parseIp } from '../../../api/validation/ip.ts'
import { Path } from '../../../api/validation/path.ts'
import type { ObjectReader } from '../../objects.ts'
import { fillIpFamilies, keepsPreferredFamilies } from './service-cluster-ips.ts'
import { alignClusterIps, dropTypeDependentFields, getsNodePorts, isHeadless, isOnNodes, keepAllocatedValues, needsHealthCheckPort, nodePortsOf } from './service-fields.ts'

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

class RangeFull extends Error {}

/**
 * Hands out cluster IPs and node ports. What is used is read from the stored services; what is handed out and not yet stored is
 * kept here, so that two requests under way never get the same.
 */
export class ServiceAllocation {
  readonly random: Random
  readonly cidr: Cidr
  readonly nodePorts: readonly [number, number]
  readonly ipsInFlight = new Set<string>()
  readonly portsInFlight = new Set<number>()

  constructor(random: Random, ranges: ServiceRanges = {}) {
    this.random = random
    const cidr = parseCidr(ranges.clusterIps ?? defaultClusterIps)
    if (!cidr) throw new Error(`not a range of service addresses: ${ranges.clusterIps}`)
    this.cidr = cidr
    this.nodePorts = ranges.nodePorts ?? defaultNodePorts
  }

  /** Completes a service that is to be stored with addresses and ports; `old` is what it replaces. */
  begin(service: Service, old: Service | undefined, env: { reader: ObjectReader; dryRun: boolean }): { errors: FieldError[]; finish(committed: boolean): void } {
    const supply = new Supply(this, env.reader, env.dryRun)
    service.spec ??= {}
    try {
      const errors = old ? update(service, old, supply) : create(service, supply)
      if (errors.length) supply.close()
      return { errors, finish: () => supply.close() }
    } catch (e) {
      supply.close()
      throw e
    }
  }
}

/** What one request takes. Closing it forgets the reservations: by then what was stored is seen as used, and the rest is free again. */
class Supply {
  readonly #pool: ServiceAllocation
  readonly #reader: ObjectReader
  readonly #dryRun: boolean
  readonly #ips: string[] = []
  readonly #ports: number[] = []
  #used: { ips: Set<string>; ports: Set<number> } | undefined

  constructor(pool: ServiceAllocation, reader: ObjectReader, dryRun: boolean) {
    this.#pool = pool
    this.#reader = reader
    this.#dryRun = dryRun
  }

  get families() {
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
    const offset = this.#pick(size, band, (i) => !this.#isUsedIp(formatIp(family, first + BigInt(i))))
    const ip = formatIp(family, first + BigInt(offset))
    this.#reserveIp(ip)
    return ip
  }

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

  takeNextPort(): number {
    const [first, last] = this.#pool.nodePorts
    if (this.#dryRun) {
      const dummy = Math.max(0, ...this.#ports, ...(this.#ports.length ? [] : [last + 1])) + 1
      this.#reservePort(dummy)
      return dummy
    }
    const size = last - first + 1
    const port = first + this.#pick(size, staticBand(size, 32, 128), (i) => !this.#isUsedPort(first + i))
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
  #pick(size: number, band: number, isFree: (i: number) => boolean): number {
    for (const [from, to] of [[band, size], [0, band]] as const) {
      const width = to - from
      const start = Math.floor(this.#pool.random.next() * width)
      for (let i = 0; i < width; i++) {
        const at = from + ((start + i) % width)
        if (isFree(at)) return at
      }
    }
    throw new RangeFull('range is full')
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

function create(service: Service, supply: Supply): FieldError[] {
  alignClusterIps(service, undefined)
  const steps = [
    () => fillIpFamilies(service, undefined, supply.families),
    () => takeClusterIps(service, supply),
    () => (isOnNodes(service) ? takeNodePorts(service, supply) : []),
  ]
  const errors = firstErrors(steps)
  if (!errors.length && needsHealthCheckPort(service)) takeHealthCheckPort(service, supply)
  return errors
}

function update(service: Service, old: Service, supply: Supply): FieldError[] {
  keepAllocatedValues(service, old)
  alignClusterIps(service, old)
  const errors = firstErrors([
    () => fillIpFamilies(service, old, supply.families),
    () => updateClusterIps(service, old, supply),
    () => (isOnNodes(service) ? updateNodePorts(service, old, supply) : []),
    () => updateHealthCheckPort(service, old, supply),
  ])
  if (!errors.length) dropTypeDependentFields(service, old)
  return errors
}

/** Each step builds on the one before. */
function firstErrors(steps: readonly (() => FieldError[])[]): FieldError[] {
  for (const step of steps) {
    const errors = step()
    if (errors.length) return errors
  }
  return []
}

/** A range without room is no fault of the request. */
function orFull<T>(what: string, take: () => T): T {
  try {
    return take()
  } catch (e) {
    if (e instanceof RangeFull) throw internalError(`failed to allocate a ${what}: ${e.message}`)
    throw e
  }
}

function takeClusterIps(service: Service, supply: Supply): FieldError[] {
  const spec = service.spec!
  if (spec.type === 'ExternalName' || isHeadless(service)) return []
  const ips = [...(spec.clusterIPs ?? [])]
  for (const i of (spec.ipFamilies ?? []).keys()) {
    const asked = ips[i]
    if (asked) {
      const why = supply.takeIp(asked)
      if (why) return [invalid(Path.of('spec', 'clusterIPs'), spec.clusterIPs, `failed to allocate IP ${asked}: ${why}`)]
    } else {
      ips[i] = orFull('serviceIP', () => supply.takeNextIp())
    }
  }
  spec.clusterIPs = ips
  spec.clusterIP = ips[0]
  return []
}

/** Only a service that was an ExternalName has no address yet; a changed one is for validation to refuse. */
function updateClusterIps(service: Service, old: Service, supply: Supply): FieldError[] {
  if (keepsPreferredFamilies(service, old)) return []
  return old.spec?.type === 'ExternalName' && service.spec!.type !== 'ExternalName' ? takeClusterIps(service, supply) : []
}

/** One port number keeps one node port over all protocols, unless others are asked for. */
function takeNodePorts(service: Service, supply: Supply): FieldError[] {
  const ports = service.spec!.ports ?? []
  const byPort = new Map<number, number>()
  for (const [i, port] of ports.entries()) {
    if (!port.nodePort && !getsNodePorts(service)) continue
    const shared = byPort.get(port.port)
    let asked = port.nodePort
    if (shared === undefined) {
      asked = ports.find((p) => p.port === port.port && p.nodePort)?.nodePort
    } else if (!asked || asked === shared) {
      port.nodePort = shared
      continue
    }
    if (asked) {
      const why = supply.takePort(asked)
      if (why) return [invalid(Path.of('spec', 'ports').index(i).child('nodePort'), asked, why)]
      port.nodePort = asked
    } else {
      port.nodePort = orFull('nodePort', () => supply.takeNextPort())
    }
    if (shared === undefined) byPort.set(port.port, port.nodePort)
  }
  return []
}

function updateNodePorts(service: Service, old: Service, supply: Supply): FieldError[] {
  const had = new Set(nodePortsOf(old))
  const taken = new Set<number>()
  for (const [i, port] of (service.spec!.ports ?? []).entries()) {
    if (!port.nodePort) {
      if (getsNodePorts(service)) port.nodePort = orFull('nodePort', () => supply.takeNextPort())
      continue
    }
    if (had.has(port.nodePort) || taken.has(port.nodePort)) continue
    const why = supply.takePort(port.nodePort)
    if (why) return [invalid(Path.of('spec', 'ports').index(i).child('nodePort'), port.nodePort, why)]
    taken.add(port.nodePort)
  }
  return []
}

function takeHealthCheckPort(service: Service, supply: Supply): void {
  const spec = service.spec!
  if (spec.healthCheckNodePort) {
    const why = supply.takePort(spec.healthCheckNodePort)
    if (why) throw internalError(`failed to allocate requested HealthCheck NodePort ${spec.healthCheckNodePort}: ${why}`)
  } else {
    spec.healthCheckNodePort = orFull('HealthCheck NodePort 0', () => supply.takeNextPort())
  }
}

function updateHealthCheckPort(service: Service, old: Service, supply: Supply): FieldError[] {
  if (!needsHealthCheckPort(service)) return []
  if (!needsHealthCheckPort(old)) takeHealthCheckPort(service, supply)
  else if (service.spec!.healthCheckNodePort !== old.spec?.healthCheckNodePort) {
    return [forbidden(Path.of('spec', 'healthCheckNodePort'), 'field is immutable')]
  }
  return []
}
