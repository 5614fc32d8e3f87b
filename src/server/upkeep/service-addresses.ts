import type { IPAddress, Service, ServiceCIDR } from '../../api/generated/types.ts'
import { timestamp } from '../../api/object.ts'
import { isAlreadyExists } from '../../api/errors.ts'
import { parseIp } from '../../api/validation/ip.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { ObjectChange, ServerObjects } from '../objects/objects.ts'
import {
  type AddressOwner,
  type ServiceAddresses,
  addressFor,
  addressesOf,
  defaultServiceCidr,
  isAddressOf,
  isManagedAddress,
  networkingGroup,
  ownerOf,
} from '../resources/core/service/service-addresses.ts'
import { ipaddresses } from '../resources/networking/ipaddresses.ts'
import { servicecidrs } from '../resources/networking/servicecidrs.ts'

/** The interval of full comparisons, as in Kubernetes. */
const repairMs = 3 * 60_000
/** An IPAddress is created before its Service. A young one may belong to a request in flight on another server. */
const graceMs = 60_000

interface AddressUpkeepOptions {
  objects: ServerObjects
  addresses: ServiceAddresses
  /** Called with the promise of each release. */
  releasing(done: Promise<void>): void
  clock: Clock
  logger: Logger
}

/**
 * Keeps Services and IPAddresses consistent: an address is deleted with its Service, a Service without an IPAddress
 * gets one, and an IPAddress without a Service is deleted.
 */
export class AddressUpkeep {
  readonly #o: AddressUpkeepOptions
  #cancel: (() => void) | undefined
  #isStopped = false

  constructor(options: AddressUpkeepOptions) {
    this.#o = options
  }

  /** Repairs once, then watches all changes. */
  async start(): Promise<void> {
    await this.#markDefaultReady()
    await this.repair()
    this.#o.objects.follow('', 'services', (change) => this.#serviceChanged(change))
    this.#o.objects.follow(networkingGroup, 'ipaddresses', (change) => this.#addressChanged(change))
    this.#schedule()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  /** Compares all Services with all IPAddresses. */
  async repair(): Promise<void> {
    const { objects } = this.#o
    const services = objects.list<Service>('', 'services', '')
    await Promise.all(services.flatMap((service) => addressesOf(service).map((ip) => this.#ensure(ip, service))))
    const orphans = objects
      .list<IPAddress>(networkingGroup, 'ipaddresses', '')
      .filter((address) => this.#isOrphan(address))
    await Promise.all(orphans.map((address) => this.#deleteOrphan(address)))
  }

  #schedule(): void {
    this.#cancel = this.#o.clock.after(repairMs, () => {
      this.#inBackground(this.repair(), 'failed to repair service addresses')
      this.#schedule()
    })
  }

  #serviceChanged(change: ObjectChange): void {
    const before = change.previous() as Service | undefined
    if (!before) return
    const now = addressesOf(change.object() as Service | undefined)
    for (const ip of addressesOf(before)) {
      if (now.includes(ip)) continue
      const { addresses, objects } = this.#o
      const done = addresses.release(ip, ownerOf(before), objects)
      this.#o.releasing(done)
      this.#inBackground(done, 'failed to release a service address')
    }
  }

  /** Recreates an IPAddress that was deleted while its Service has the address. */
  #addressChanged(change: ObjectChange): void {
    if (change.object()) return
    const { parentRef } = (change.previous() as IPAddress | undefined)?.spec ?? {}
    if (!parentRef) return
    const service = this.#serviceOf({ namespace: parentRef.namespace ?? '', name: parentRef.name })
    if (!addressesOf(service).includes(change.name)) return
    this.#inBackground(
      Promise.resolve().then(() => this.#ensure(change.name, service!)),
      'failed to restore a service address',
    )
  }

  #serviceOf({ namespace, name }: AddressOwner): Service | undefined {
    return this.#o.objects.get<Service>('', 'services', namespace, name)
  }

  /** Ensures that the IPAddress of a Service's address exists and refers to the Service. */
  async #ensure(ip: string, service: Service): Promise<void> {
    const { objects, logger } = this.#o
    const owner = ownerOf(service)
    const found = objects.get<IPAddress>(networkingGroup, 'ipaddresses', '', ip)
    if (found && isAddressOf(found, owner)) return
    if (found && !this.#isUnowned(found)) {
      logger.warn('two services have the same address', { ip, service: `${owner.namespace}/${owner.name}` })
      return
    }
    try {
      if (found) await objects.delete(ipaddresses, '', ip, { preconditions: { uid: found.metadata.uid! } })
      await objects.create(ipaddresses, addressFor(ip, owner))
      logger.info('created the IPAddress of a service', { ip, service: `${owner.namespace}/${owner.name}` })
    } catch (e) {
      if (!isAlreadyExists(e)) throw e
    }
  }

  #isUnowned(address: IPAddress): boolean {
    const { group = '', resource, namespace = '', name = '' } = address.spec?.parentRef ?? {}
    if (group !== '' || resource !== 'services') return true
    return !addressesOf(this.#serviceOf({ namespace, name })).includes(address.metadata.name!)
  }

  #isOrphan(address: IPAddress): boolean {
    const { creationTimestamp, name = '' } = address.metadata
    if (!isManagedAddress(address) || !parseIp(name) || !this.#isUnowned(address)) return false
    return this.#o.clock.now() - Date.parse(creationTimestamp ?? '') >= graceMs
  }

  async #deleteOrphan({ metadata, spec }: IPAddress): Promise<void> {
    const { objects, addresses, logger } = this.#o
    const { namespace = '', name = '' } = spec?.parentRef ?? {}
    logger.info('deleting an IPAddress without a service', { ip: metadata.name, service: `${namespace}/${name}` })
    await addresses.release(metadata.name!, { namespace, name }, objects)
  }

  async #markDefaultReady(): Promise<void> {
    const { objects, clock } = this.#o
    const found = objects.get<ServiceCIDR>(networkingGroup, 'servicecidrs', '', defaultServiceCidr)
    if (!found || found.metadata.deletionTimestamp || found.status?.conditions?.some((c) => c.type === 'Ready')) return
    const lastTransitionTime = timestamp(clock.now())
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: '',
      message: 'Kubernetes default Service CIDR is ready',
      lastTransitionTime,
    }
    await objects.update<ServiceCIDR>(
      servicecidrs,
      '',
      defaultServiceCidr,
      (copy) => ({
        ...copy,
        status: { ...copy.status, conditions: [...(copy.status?.conditions ?? []), ready] },
      }),
      { isStatus: true },
    )
  }

  #inBackground(work: Promise<void>, what: string): void {
    work.catch((error: unknown) => {
      if (!this.#isStopped) this.#o.logger.warn(what, { error })
    })
  }
}
