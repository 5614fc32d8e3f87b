import type { Service, ServiceCIDR } from '../../api/generated/types.ts'
import { addressAt, cidrContains, parseCidr, parseIp } from '../../api/validation/ip.ts'
import type { Logger } from '../../base/logger.ts'
import type { ObjectReader, ServerObjects } from '../objects/objects.ts'
import {
  type ServiceAddresses,
  addressesOf,
  defaultServiceCidr,
  networkingGroup,
  ownerOf,
} from '../resources/core/service/service-addresses.ts'
import type { Resource } from '../registry/resource.ts'
import { servicecidrs } from '../resources/networking/servicecidrs.ts'

/** The ranges of cluster IPs and node ports. */
export interface ServiceSettings {
  /** Returns the range of cluster IPs of a cluster whose range is `stored`; undefined before its first start. */
  range?(stored: string | undefined): string | undefined | Promise<string | undefined>
  /** The first and the last node port. */
  nodePorts?: readonly [number, number]
}

/** The stored range of cluster IPs; undefined before the cluster's first start. */
export const storedServiceRange = (objects: ObjectReader): string | undefined =>
  objects.get<ServiceCIDR>(networkingGroup, 'servicecidrs', '', defaultServiceCidr)?.spec?.cidrs?.[0]

interface ServiceRangeOptions {
  objects: ServerObjects
  /** The resource of Services. */
  services: Resource
  addresses: ServiceAddresses
  logger: Logger
}

/**
 * Changes the range of cluster IPs. A Service whose address is in no range gets another one: the field is immutable for
 * users, but traffic to an unused address would leave the machine.
 */
export async function settleServiceRange(options: ServiceRangeOptions, range: string): Promise<void> {
  const { objects, logger } = options
  const stored = storedServiceRange(objects)
  if (stored === undefined || stored === range) return
  await objects.update<ServiceCIDR>(servicecidrs, '', defaultServiceCidr, (copy) => ({
    ...copy,
    spec: { ...copy.spec, cidrs: [range] },
  }))
  const ranges = objects
    .list<ServiceCIDR>(networkingGroup, 'servicecidrs', '')
    .flatMap(({ spec }) => (spec?.cidrs ?? []).flatMap((text) => parseCidr(text) ?? []))
  const isServed = (ip: string) => ranges.some((one) => cidrContains(one, parseIp(ip)!))
  const moved = objects
    .list<Service>('', 'services', '')
    .filter((service) => addressesOf(service).some((ip) => !isServed(ip)))
  for (const service of moved) await moveService(service, range, options)
  logger.warn('the service cluster IP range has changed', { from: stored, to: range, moved: moved.length })
}

async function moveService(
  service: Service,
  range: string,
  { objects, services, addresses, logger }: ServiceRangeOptions,
): Promise<void> {
  const owner = ownerOf(service)
  const before = addressesOf(service)
  const isApi = owner.namespace === 'default' && owner.name === 'kubernetes'
  const first = addressAt(range, 1)
  const isFirst = isApi && (await addresses.take(first, owner, objects, false)).refusal === undefined
  const ip = isFirst ? first : await addresses.takeNext(owner, objects, false)
  await objects.update<Service>(services, owner.namespace, owner.name, (copy) => ({
    ...copy,
    spec: { ...copy.spec!, clusterIP: ip, clusterIPs: [ip] },
  }))
  for (const old of before) await addresses.release(old, owner, objects)
  logger.info('the cluster IP of a service has changed', {
    service: `${owner.namespace}/${owner.name}`,
    from: before.join(','),
    to: ip,
  })
}
