import type { Random } from '../../../base/random.ts'
import { ApiError, internalError } from '../../../api/errors.ts'
import type { Service } from '../../../api/generated/types.ts'
import { type FieldError, forbidden, invalid } from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'
import type { ObjectReader } from '../../objects.ts'
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

/** What a service got, or why not. `finish` must be called once the write has happened or failed. */
export interface Begun {
  errors: FieldError[]
  finish(committed: boolean): void
}

/** Hands out cluster IPs and node ports. What is used is read from the stored services: giving back is no step of its own. */
export class ServiceAllocation {
  readonly #pool: ServicePool

  constructor(random: Random, ranges: ServiceRanges = {}) {
    this.#pool = new ServicePool(random, ranges)
  }

  /** Completes a service that is to be stored with addresses and ports; `old` is what it replaces. */
  begin(service: Service, old: Service | undefined, env: { reader: ObjectReader; dryRun: boolean }): Begun {
    const supply = new ServiceSupply(this.#pool, env.reader, env.dryRun)
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

function create(service: Service, supply: ServiceSupply): FieldError[] {
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

function update(service: Service, old: Service, supply: ServiceSupply): FieldError[] {
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

function takeClusterIps(service: Service, supply: ServiceSupply): FieldError[] {
  const spec = service.spec!
  if (spec.type === 'ExternalName' || isHeadless(service)) return []
  const ips = [...(spec.clusterIPs ?? [])]
  for (const i of (spec.ipFamilies ?? []).keys()) {
    const asked = ips[i]
    if (asked) {
      const why = supply.takeIp(asked)
      if (why) return [invalid(Path.of('spec', 'clusterIPs'), spec.clusterIPs, `failed to allocate IP ${asked}: ${why}`)]
    } else {
      ips[i] = supply.takeNextIp()
    }
  }
  spec.clusterIPs = ips
  spec.clusterIP = ips[0]
  return []
}

/** Only a service that was an ExternalName has no address yet; a changed one is for validation to refuse. */
function updateClusterIps(service: Service, old: Service, supply: ServiceSupply): FieldError[] {
  if (keepsPreferredFamilies(service, old)) return []
  return old.spec?.type === 'ExternalName' && service.spec!.type !== 'ExternalName' ? takeClusterIps(service, supply) : []
}

/** One port number keeps one node port over all protocols, unless others are asked for. */
function takeNodePorts(service: Service, supply: ServiceSupply): FieldError[] {
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
    // Kubernetes does not count this among the faults of a field.
    if (seen.has(key)) throw new ApiError(500, '', `duplicate nodePort: ${key}`)
    seen.add(key)
  }
  return []
}

function takeHealthCheckPort(service: Service, supply: ServiceSupply): void {
  const spec = service.spec!
  if (spec.healthCheckNodePort) {
    const why = supply.takePort(spec.healthCheckNodePort)
    if (why) throw internalError(`failed to allocate requested HealthCheck NodePort ${spec.healthCheckNodePort}: ${why}`)
  } else {
    spec.healthCheckNodePort = supply.takeNextPort('HealthCheck NodePort 0')
  }
}

function updateHealthCheckPort(service: Service, old: Service, supply: ServiceSupply): FieldError[] {
  if (!needsHealthCheckPort(service)) return []
  if (!needsHealthCheckPort(old)) takeHealthCheckPort(service, supply)
  else if (service.spec!.healthCheckNodePort !== old.spec?.healthCheckNodePort) {
    return [forbidden(Path.of('spec', 'healthCheckNodePort'), 'field is immutable')]
  }
  return []
}
