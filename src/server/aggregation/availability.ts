import type { APIServiceCondition, EndpointSlice, Endpoints, Service } from '../../api/generated/types.ts'
import type { ObjectReader } from '../objects/objects.ts'
import { endpointsOf } from '../proxy/service-endpoints.ts'
import type { Remote } from './remote.ts'

/** The Available condition without its time. */
export type Availability = Required<Pick<APIServiceCondition, 'status' | 'reason' | 'message'>>

const unavailable = (reason: string, message: string): Availability => ({ status: 'False', reason, message })

export const passed: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' }

export const failedDiscovery = (message: string): Availability => unavailable('FailedDiscoveryCheck', message)

function hasEndpointObjects(namespace: string, name: string, objects: ObjectReader): boolean {
  if (objects.get<Endpoints>('', 'endpoints', namespace, name)) return true
  const slices = objects.list<EndpointSlice>('discovery.k8s.io', 'endpointslices', namespace)
  return slices.some(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name)
}

/** The reason why the service is unreachable, in Kubernetes' words. Undefined if it has endpoints. */
export function serviceProblem({ spec }: Remote, objects: ObjectReader): Availability | undefined {
  const { name = '', namespace = '', port = 443 } = spec.service!
  const where = `service/${name} in ${JSON.stringify(namespace)}`
  const service = objects.get<Service>('', 'services', namespace, name)
  if (!service) return unavailable('ServiceNotFound', `${where} is not present`)
  // Endpoints of other service types are unknown here.
  if ((service.spec.type ?? 'ClusterIP') !== 'ClusterIP') return undefined
  const found = service.spec.ports?.find((p) => p.port === port)
  if (!found) return unavailable('ServicePortError', `${where} is not listening on port ${port}`)
  if (!hasEndpointObjects(namespace, name, objects))
    return unavailable('EndpointsNotFound', `cannot find endpoints for ${where}`)
  const portName = found.name ?? ''
  if (endpointsOf(namespace, name, portName, objects).length > 0) return undefined
  const message = `endpoints for ${where} have no addresses with port name ${JSON.stringify(portName)}`
  return unavailable('MissingEndpoints', message)
}
