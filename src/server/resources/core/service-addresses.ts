import { internalError, isAlreadyExists, isConflict, isNotFound } from '../../../api/errors.ts'
import type { IPAddress, Service, ServiceCIDR } from '../../../api/generated/types.ts'
import { type Cidr, type IpFamily, cidrContains, formatIp, parseCidr, parseIp } from '../../../api/validation/ip.ts'
import type { Random } from '../../../base/random.ts'
import type { ServerObjects } from '../../objects/objects.ts'
import { ipaddresses } from '../networking/ipaddresses.ts'

export const networkingGroup = 'networking.k8s.io'
export const defaultServiceCidr = 'kubernetes'
export const defaultServiceRange = '10.0.0.0/24'
/** The controller that makes the IPAddresses of Services, in Kubernetes' words. */
const managedByLabel = 'ipaddress.kubernetes.io/managed-by'
const managedBy = 'ipallocator.k8s.io'
const familyLabel = 'ipaddress.kubernetes.io/ip-family'

const alreadyAllocated = 'provided IP is already allocated'
const mismatchedNetwork = 'the provided network does not match the current range'
/** Random places are chosen among the first addresses of a range; no cluster has so many Services. */
const mostAddresses = 2n ** 31n

/** Names the Service that an address is for. */
export interface AddressOwner {
  namespace: string
  name: string
}

export const ownerOf = ({ metadata }: Service): AddressOwner => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' })

/** The addresses of a Service, each in the form that is the name of its IPAddress. */
export const addressesOf = (service: Service | undefined): string[] =>
  (service?.spec?.clusterIPs ?? []).flatMap((text) => {
    const ip = parseIp(text)
    return ip ? [formatIp(ip.family, ip.value)] : []
  })

export const isManagedAddress = ({ metadata }: IPAddress): boolean => metadata.labels?.[managedByLabel] === managedBy

/** True if an IPAddress says that it belongs to this Service. */
export function isAddressOf({ spec }: IPAddress, owner: AddressOwner): boolean {
  const { group = '', resource, namespace, name } = spec?.parentRef ?? {}
  return group === '' && resource === 'services' && namespace === owner.namespace && name === owner.name
}

export const addressFor = (ip: string, { namespace, name }: AddressOwner): IPAddress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IPAddress',
  metadata: { name: ip, labels: { [familyLabel]: parseIp(ip)!.family, [managedByLabel]: managedBy } },
  spec: { parentRef: { resource: 'services', namespace, name } },
})

/** The addresses of a range that can be given out, and how many of the lowest are left for those who ask for one. */
interface Band {
  family: IpFamily
  first: bigint
  size: number
  reserved: number
}

/** The lower part of a range is left for those who ask for a number: at least 16, a share of the whole, at most `max`. */
export const staticBand = (size: number, share: number, max: number) =>
  size <= 16 ? 0 : Math.min(Math.max(16, Math.trunc(size / share)), max)

/** Neither the network's own address nor, in IPv4, its broadcast address is given out. */
function bandOf({ network, prefix, address: { family } }: Cidr): Band {
  const isIpv4 = family === 'IPv4'
  const all = 1n << BigInt((isIpv4 ? 32 : 128) - prefix)
  const usable = all - (isIpv4 ? 2n : 1n)
  const size = Number(usable < mostAddresses ? usable : mostAddresses)
  return { family, first: network + 1n, size: Math.max(0, size), reserved: staticBand(size + 2, 16, 256) }
}

function isUsable(range: Cidr, value: bigint): boolean {
  const { first } = bandOf(range)
  const isIpv4 = range.address.family === 'IPv4'
  const last = range.network + (1n << BigInt((isIpv4 ? 32 : 128) - range.prefix)) - (isIpv4 ? 2n : 1n)
  return value >= first && value <= last
}

/** All addresses of a range: from a random one upwards in the upper part, then in the lower. */
function* candidates({ family, first, size, reserved }: Band, random: Random): Generator<string> {
  for (const [from, to] of [[reserved, size], [0, reserved]] as const) {
    const width = to - from
    const start = Math.floor(random.next() * width)
    for (let i = 0; i < width; i++) yield formatIp(family, first + BigInt(from + ((start + i) % width)))
  }
}

const isReady = ({ metadata, status }: ServiceCIDR): boolean =>
  !metadata.deletionTimestamp && status?.conditions?.find((c) => c.type === 'Ready')?.status !== 'False'

/**
 * Hands out addresses of Services. To create the IPAddress object is to take the address: who finds that it exists
 * already tries another one. Several servers can share a store.
 */
export class ServiceAddresses {
  readonly #random: Random
  readonly #family: IpFamily
  /** Addresses whose IPAddress is being created by a request of this server. */
  readonly #choosing = new Set<string>()
  /** Addresses whose IPAddress is being deleted because its Service is gone. */
  readonly #releasing = new Map<string, Promise<void>>()

  constructor(random: Random, range: string = defaultServiceRange) {
    const cidr = parseCidr(range)
    if (!cidr) throw new Error(`not a range of service addresses: ${range}`)
    this.#random = random
    this.#family = cidr.address.family
  }

  /** The families that Services can have, the default first. */
  get families(): IpFamily[] {
    return [this.#family]
  }

  /** Takes the address that was asked for; answers why it cannot be had. A dry run takes nothing. */
  async take(text: string, owner: AddressOwner, objects: ServerObjects, dryRun: boolean): Promise<string | undefined> {
    const ip = parseIp(text)!
    if (!this.#ranges(objects).some((range) => cidrContains(range, ip) && isUsable(range, ip.value))) return mismatchedNetwork
    if (dryRun) return undefined
    const name = formatIp(ip.family, ip.value)
    await this.#releasing.get(name)
    return (await this.#create(name, owner, objects)) ? undefined : alreadyAllocated
  }

  /** Takes any address, from the upper part of a range while there is one. A dry run gets the network's own, which nobody has. */
  async takeNext(owner: AddressOwner, objects: ServerObjects, dryRun: boolean): Promise<string> {
    const ranges = this.#ranges(objects)
    if (dryRun && ranges[0]) return formatIp(this.#family, ranges[0].network)
    const taken = await this.#takeAny(ranges, owner, objects)
    if (taken) return taken
    // An address of a Service that was deleted a moment ago is about to be free.
    const releases = [...this.#releasing.values()]
    await Promise.all(releases)
    const freed = releases.length ? await this.#takeAny(ranges, owner, objects) : undefined
    if (freed) return freed
    throw internalError('failed to allocate a serviceIP: range is full')
  }

  async #takeAny(ranges: readonly Cidr[], owner: AddressOwner, objects: ServerObjects): Promise<string | undefined> {
    for (const range of ranges) {
      for (const ip of candidates(bandOf(range), this.#random)) {
        if (!this.#isTaken(ip, objects) && (await this.#create(ip, owner, objects))) return ip
      }
    }
    return undefined
  }

  /** Gives an address back. Nothing happens if its IPAddress belongs to another Service by now. */
  release(ip: string, owner: AddressOwner, objects: ServerObjects): Promise<void> {
    const underWay = this.#releasing.get(ip)
    if (underWay) return underWay
    const done = this.#delete(ip, owner, objects).finally(() => this.#releasing.delete(ip))
    this.#releasing.set(ip, done)
    return done
  }

  async #delete(ip: string, owner: AddressOwner, objects: ServerObjects): Promise<void> {
    // A release may begin while events of the commit that caused it are still being delivered.
    await Promise.resolve()
    const found = objects.get<IPAddress>(networkingGroup, 'ipaddresses', '', ip)
    if (!found || !isAddressOf(found, owner)) return
    try {
      await objects.delete(ipaddresses, '', ip, { preconditions: { uid: found.metadata.uid! } }, false)
    } catch (e) {
      // Another server was faster.
      if (!isNotFound(e) && !isConflict(e)) throw e
    }
  }

  #isTaken(ip: string, objects: ServerObjects): boolean {
    return this.#choosing.has(ip) || objects.has(networkingGroup, 'ipaddresses', '', ip)
  }

  async #create(ip: string, owner: AddressOwner, objects: ServerObjects): Promise<boolean> {
    if (this.#isTaken(ip, objects)) return false
    this.#choosing.add(ip)
    try {
      await objects.create(ipaddresses, addressFor(ip, owner))
      return true
    } catch (e) {
      if (!isAlreadyExists(e)) throw e
      return false
    } finally {
      this.#choosing.delete(ip)
    }
  }

  /** The ranges that addresses come from now, that of the server first. */
  #ranges(objects: ServerObjects): Cidr[] {
    const ready = objects.list<ServiceCIDR>(networkingGroup, 'servicecidrs', '').filter(isReady)
    const isDefault = (one: ServiceCIDR) => one.metadata.name === defaultServiceCidr
    const texts = [...ready.filter(isDefault), ...ready.filter((one) => !isDefault(one))].flatMap((one) => one.spec?.cidrs ?? [])
    return [...new Set(texts)].flatMap((text) => {
      const cidr = parseCidr(text)
      return cidr?.address.family === this.#family ? [cidr] : []
    })
  }
}
