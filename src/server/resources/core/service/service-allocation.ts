import type { Random } from '../../../../base/random.ts'
import { ApiError, internalError } from '../../../../api/errors.ts'
import type { Service } from '../../../../api/generated/types.ts'
import { type FieldError, forbidden, invalid } from '../../../../api/validation/field-error.ts'
import { Path } from '../../../../api/validation/path.ts'
import type { ServerObjects } from '../../../objects/objects.ts'
import type { Begun } from '../../../registry/resource.ts'
import type { NodePortClaims } from './node-port-claims.ts'
import { type ServiceAddresses, ownerOf } from './service-addresses.ts'
import { fillIpFamilies, keepsPreferredFamilies } from './service-cluster-ips.ts'
import {
  alignClusterIps,
  dropTypeDependentFields,
  getsNodePorts,
  isHeadless,
  isOnNodes,
  keepAllocatedValues,
  needsHealthCheckPort,
  nodePortsOf,
} from './service-fields.ts'
import { ServicePool, type ServiceRanges, ServiceSupply } from './service-supply.ts'

/** Errors, or a promise if an address must be claimed first. */
type Errors = FieldError[] | Promise<FieldError[]>

/** Allocates cluster IPs and node ports. */
export class ServiceAllocation {
  readonly #pool: ServicePool

  constructor(random: Random, ranges: ServiceRanges = {}) {
    this.#pool = new ServicePool(random, ranges)
  }

  get addresses(): ServiceAddresses {
    return this.#pool.addresses
  }

  /** Claims node ports in the store, for use with other servers. */
  sharePorts(claims: NodePortClaims): void {
    this.#pool.claims = claims
  }

  /** Registers the release of an address or port. */
  releasing(done: Promise<void>): void {
    this.#pool.releasing(done)
  }

  /**
   * Resolves when pending releases are stored. Returns undefined on a single server, which knows the pending releases.
   */
  released(): Promise<unknown> | undefined {
    return this.#pool.claims && this.#pool.released()
  }

  /** Allocates the addresses and ports of a service before it is stored. `old` is the stored one. */
  begin(
    service: Service,
    old: Service | undefined,
    env: { reader: ServerObjects; dryRun: boolean },
  ): Begun | Promise<Begun> {
    const supply = new ServiceSupply(
      this.#pool,
      env.reader,
      { ...ownerOf(service), uid: service.metadata.uid ?? '' },
      env.dryRun,
    )
    service.spec ??= {}
    const begun = (errors: FieldError[]): Begun => ({ errors, finish: (committed) => supply.close(committed) })
    try {
      const errors = old ? update(service, old, supply) : create(service, supply)
      return errors instanceof Promise ? errors.then(begun, (e: unknown) => giveUp(supply, e)) : begun(errors)
    } catch (e) {
      const closed = supply.close(false)
      if (!closed) throw e
      return closed.then(() => Promise.reject(e as Error))
    }
  }
}

async function giveUp(supply: ServiceSupply, why: unknown): Promise<never> {
  await supply.close(false)
  throw why
}

function create(service: Service, supply: ServiceSupply): Errors {
  alignClusterIps(service, undefined)
  return firstErrors([
    () => fillIpFamilies(service, undefined, supply.families),
    () => takeClusterIps(service, supply),
    () =>
      takePorts(service, supply, () => {
        const errors = isOnNodes(service) ? takeNodePorts(service, supply) : []
        return errors.length === 0 && needsHealthCheckPort(service) ? takeHealthCheckPort(service, supply) : errors
      }),
  ])
}

function update(service: Service, old: Service, supply: ServiceSupply): Errors {
  keepAllocatedValues(service, old)
  alignClusterIps(service, old)
  return firstErrors([
    () => fillIpFamilies(service, old, supply.families),
    () => updateClusterIps(service, old, supply),
    () =>
      takePorts(service, supply, () => {
        const errors = isOnNodes(service) ? updateNodePorts(service, old, supply) : []
        return errors.length === 0 ? updateHealthCheckPort(service, old, supply) : errors
      }),
    () => {
      dropTypeDependentFields(service, old)
      return []
    },
  ])
}

/** Runs steps in order until one has errors. Synchronous steps do not wait. */
function firstErrors(steps: readonly (() => Errors)[]): Errors {
  for (const [i, step] of steps.entries()) {
    const errors = step()
    if (errors instanceof Promise)
      return errors.then((found) => (found.length ? found : firstErrors(steps.slice(i + 1))))
    if (errors.length) return errors
  }
  return []
}

function takeClusterIps(service: Service, supply: ServiceSupply): Errors {
  return service.spec!.type === 'ExternalName' || isHeadless(service) ? [] : takeAddresses(service, supply)
}

async function takeAddresses(service: Service, supply: ServiceSupply): Promise<FieldError[]> {
  const spec = service.spec!
  const ips = [...(spec.clusterIPs ?? [])]
  for (const i of (spec.ipFamilies ?? []).keys()) {
    const asked = ips[i]
    if (asked) {
      const why = await supply.takeIp(asked)
      if (why)
        return [invalid(Path.of('spec', 'clusterIPs'), spec.clusterIPs, `failed to allocate IP ${asked}: ${why}`)]
    } else {
      ips[i] = await supply.takeNextIp()
    }
  }
  spec.clusterIPs = ips
  spec.clusterIP = ips[0]
  return []
}

/** Allocates addresses for a former ExternalName. Other changes are left to validation. */
function updateClusterIps(service: Service, old: Service, supply: ServiceSupply): Errors {
  if (keepsPreferredFamilies(service, old)) return []
  return old.spec?.type === 'ExternalName' && service.spec!.type !== 'ExternalName'
    ? takeClusterIps(service, supply)
    : []
}

/** Claims ports. Starts over from the requested values if another server claims one of them first. */
function takePorts(service: Service, supply: ServiceSupply, take: () => FieldError[]): Errors {
  const spec = service.spec!
  const ports = spec.ports ?? []
  const asked = { nodePorts: ports.map(({ nodePort }) => nodePort), check: spec.healthCheckNodePort }
  return supply.withPorts(take, () => {
    for (const [i, port] of ports.entries()) setOrDelete(port, 'nodePort', asked.nodePorts[i])
    setOrDelete(spec, 'healthCheckNodePort', asked.check)
  })
}

function setOrDelete<K extends string>(
  object: { [key in K]?: number | undefined },
  field: K,
  value: number | undefined,
): void {
  if (value === undefined) delete object[field]
  else object[field] = value
}

/** A port number has one node port for all protocols, unless others are requested. */
function takeNodePorts(service: Service, supply: ServiceSupply): FieldError[] {
  const ports = service.spec!.ports ?? []
  const byPort = new Map<number, number>()
  const asks = new Map<number, number>()
  for (const { port, nodePort } of ports) if (nodePort && !asks.has(port)) asks.set(port, nodePort)
  const needed = getsNodePorts(service) ? new Set(ports.map(({ port }) => port)).size : 0
  if (needed > supply.nodePortCount)
    return [invalid(Path.of('spec', 'ports'), needed, 'failed to allocate a nodePort: range is full')]
  for (const [i, port] of ports.entries()) {
    if (!port.nodePort && !getsNodePorts(service)) continue
    const shared = byPort.get(port.port)
    let asked = port.nodePort
    if (shared === undefined) {
      asked = asks.get(port.port)
    } else if (!asked || asked === shared) {
      port.nodePort = shared
      continue
    }
    if (asked) {
      const why = supply.takePort(asked)
      if (why) return [invalid(Path.of('spec', 'ports').index(i).child('nodePort'), asked, why)]
      port.nodePort = asked
    } else {
      port.nodePort = supply.takeNextPort('nodePort')
    }
    if (shared === undefined) byPort.set(port.port, port.nodePort)
  }
  return []
}

function updateNodePorts(service: Service, old: Service, supply: ServiceSupply): FieldError[] {
  const had = new Set(nodePortsOf(old))
  const taken = new Set<number>()
  const seen = new Set<string>()
  for (const [i, port] of (service.spec!.ports ?? []).entries()) {
    if (!port.nodePort && !getsNodePorts(service)) continue
    if (!port.nodePort) {
      port.nodePort = supply.takeNextPort('nodePort')
    } else if (!had.has(port.nodePort) && !taken.has(port.nodePort)) {
      const why = supply.takePort(port.nodePort)
      if (why) return [invalid(Path.of('spec', 'ports').index(i).child('nodePort'), port.nodePort, why)]
      taken.add(port.nodePort)
    }
    const key = `{${port.protocol} ${port.nodePort}}`
    // As in Kubernetes, this is an internal error and not a field error.
    if (seen.has(key)) throw new ApiError(500, '', `duplicate nodePort: ${key}`)
    seen.add(key)
  }
  return []
}

function takeHealthCheckPort(service: Service, supply: ServiceSupply): FieldError[] {
  const spec = service.spec!
  if (spec.healthCheckNodePort) {
    const why = supply.takePort(spec.healthCheckNodePort)
    if (why)
      throw internalError(`failed to allocate requested HealthCheck NodePort ${spec.healthCheckNodePort}: ${why}`)
  } else {
    spec.healthCheckNodePort = supply.takeNextPort('HealthCheck NodePort 0')
  }
  return []
}

function updateHealthCheckPort(service: Service, old: Service, supply: ServiceSupply): FieldError[] {
  if (!needsHealthCheckPort(service)) return []
  if (!needsHealthCheckPort(old)) return takeHealthCheckPort(service, supply)
  if (service.spec!.healthCheckNodePort !== old.spec?.healthCheckNodePort) {
    return [forbidden(Path.of('spec', 'healthCheckNodePort'), 'field is immutable')]
  }
  return []
}
