import { internalError, isAlreadyExists, isConflict, isNotFound } from '../../../../api/errors.ts'
import type { IPAddress, Service, ServiceCIDR } from '../../../../api/generated/types.ts'
import { type Cidr, type IpFamily, cidrContains, formatIp, parseCidr, parseIp } from '../../../../api/validation/ip.ts'
import type { Random } from '../../../../base/random.ts'
import type { ServerObjects } from '../../../objects/objects.ts'
import { ipaddresses } from '../../networking/ipaddresses.ts'

export const networkingGroup = 'networking.k8s.io'
export const defaultServiceCidr = 'kubernetes'
export const defaultServiceRange = '10.0.0.0/24'
/** The label with the controller that manages an IPAddress. */
const managedByLabel = 'ipaddress.kubernetes.io/managed-by'
const managedBy = 'ipallocator.k8s.io'
const familyLabel = 'ipaddress.kubernetes.io/ip-family'

const alreadyAllocated = 'provided IP is already allocated'
const mismatchedNetwork = 'the provided network does not match the current range'
/** Random addresses are among the first 2^31 of a range, which is more than any cluster has Services. */
const mostAddresses = 2n ** 31n

/** The Service that owns an address. */
export interface AddressOwner {
  namespace: string
  name: string
}

export const ownerOf = ({ metadata }: Service): AddressOwner => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
})

/** The addresses of a Service, in the form of IPAddress names. */
export const addressesOf = (service: Service | undefined): string[] =>
  (service?.spec?.clusterIPs ?? []).flatMap((text) => {
    const ip = parseIp(text)
    return ip ? [formatIp(ip.family, ip.value)] : []
  })

export const isManagedAddress = ({ metadata }: IPAddress): boolean => metadata.labels?.[managedByLabel] === managedBy

/** True if an IPAddress refers to this Service. */
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

/** The assignable addresses of a range, and the number of lowest ones reserved for explicit requests. */
interface Band {
  family: IpFamily
  first: bigint
  size: number
  reserved: number
}

/**
 * The size of the lower part of a range, reserved for explicit requests: a share of the range, at least 16 and at most
 * `max`.
 */
export const staticBand = (size: number, share: number, max: number) =>
  size <= 16 ? 0 : Math.min(Math.max(16, Math.trunc(size / share)), max)

/** The network address and, in IPv4, the broadcast address are not assignable. */
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

/** Yields the addresses of a range: the upper part from a random start, then the lower part. */
function* candidates({ family, first, size, reserved }: Band, random: Random): Generator<string> {
  for (const [from, to] of [
    [reserved, size],
    [0, reserved],
  ] as const) {
    const width = to - from
    const start = Math.floor(random.next() * width)
    for (let i = 0; i < width; i++) yield formatIp(family, first + BigInt(from + ((start + i) % width)))
  }
}

const isReady = ({ metadata, status }: ServiceCIDR): boolean =>
  !metadata.deletionTimestamp && status?.conditions?.find((c) => c.type === 'Ready')?.status !== 'False'

/**
 * The error of a claim, or whether the claim is new: it is not if the address was already claimed for the same Service.
 */
type Taken = { refusal: string } | { isNew: boolean; refusal?: undefined }

/**
 * Allocates addresses of Services. Creating the IPAddress object claims the address; if it exists, another address is
 * tried. Several servers can share a store.
 */
export class ServiceAddresses {
  readonly #random: Random
  readonly #family: IpFamily
  /** Addresses whose IPAddress this server is creating. */
  readonly #choosing = new Set<string>()
  /** Addresses whose IPAddress is being deleted with its Service. */
  readonly #releasing = new Map<string, Promise<void>>()

  constructor(random: Random, range: string = defaultServiceRange) {
    const cidr = parseCidr(range)
    if (!cidr) throw new Error(`not a range of service addresses: ${range}`)
    this.#random = random
    this.#family = cidr.address.family
  }

  /** The IP families of Services, the default first. */
  get families(): IpFamily[] {
    return [this.#family]
  }

  /** Claims the requested address. A dry run claims nothing. */
  async take(text: string, owner: AddressOwner, objects: ServerObjects, dryRun: boolean): Promise<Taken> {
    const ip = parseIp(text)!
    if (!this.#ranges(objects).some((range) => cidrContains(range, ip) && isUsable(range, ip.value)))
      return { refusal: mismatchedNetwork }
    if (dryRun) return { isNew: false }
    const name = formatIp(ip.family, ip.value)
    await this.#releasing.get(name)
    if (await this.#create(name, owner, objects)) return { isNew: true }
    return this.#isLeft(name, owner, objects) ? { isNew: false } : { refusal: alreadyAllocated }
  }

  /**
   * True if an address was claimed for this Service, which does not exist: by a server that failed before it stored the
   * Service, or by one that is about to. Only one of two servers can store it.
   */
  #isLeft(ip: string, owner: AddressOwner, objects: ServerObjects): boolean {
    const found = objects.get<IPAddress>(networkingGroup, 'ipaddresses', '', ip)
    return found !== undefined && isAddressOf(found, owner) && !objects.has('', 'services', owner.namespace, owner.name)
  }

  /**
   * Claims any address, from the upper part of a range if possible. A dry run gets the network address, which is never
   * assigned.
   */
  async takeNext(owner: AddressOwner, objects: ServerObjects, dryRun: boolean): Promise<string> {
    const ranges = this.#ranges(objects)
    if (dryRun && ranges[0]) return formatIp(this.#family, ranges[0].network)
    const taken = await this.#takeAny(ranges, owner, objects)
    if (taken) return taken
    // Addresses of Services deleted just now are about to be free.
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

  /** Releases an address, unless its IPAddress belongs to another Service. */
  release(ip: string, owner: AddressOwner, objects: ServerObjects): Promise<void> {
    const underWay = this.#releasing.get(ip)
    if (underWay) return underWay
    const done = this.#delete(ip, owner, objects).finally(() => this.#releasing.delete(ip))
    this.#releasing.set(ip, done)
    return done
  }

  async #delete(ip: string, owner: AddressOwner, objects: ServerObjects): Promise<void> {
    // A release may start while the events of the deletion are being delivered.
    await Promise.resolve()
    const found = objects.get<IPAddress>(networkingGroup, 'ipaddresses', '', ip)
    if (!found || !isAddressOf(found, owner)) return
    // Another server may have stored the Service with the address that it found claimed.
    const service = objects.get<Service>('', 'services', owner.namespace, owner.name)
    if (addressesOf(service).includes(ip)) return
    try {
      await objects.delete(ipaddresses, '', ip, { preconditions: { uid: found.metadata.uid! } })
    } catch (e) {
      // Another server released it first.
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

  /** The current ranges, the server's own first. */
  #ranges(objects: ServerObjects): Cidr[] {
    const ready = objects.list<ServiceCIDR>(networkingGroup, 'servicecidrs', '').filter(isReady)
    const isDefault = (one: ServiceCIDR) => one.metadata.name === defaultServiceCidr
    const texts = [...ready.filter(isDefault), ...ready.filter((one) => !isDefault(one))].flatMap(
      (one) => one.spec?.cidrs ?? [],
    )
    return [...new Set(texts)].flatMap((text) => {
      const cidr = parseCidr(text)
      return cidr?.address.family === this.#family ? [cidr] : []
    })
  }
}
