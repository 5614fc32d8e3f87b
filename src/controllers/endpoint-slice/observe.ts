import type { EndpointSlice, Node, Pod, Service } from '../../api/generated/types.ts'
import { endpointslices, nodes } from '../../client/index.ts'
import { type CacheIndex, type ObserveContext, indexing } from '../kit/index.ts'
import { isServedByPods, podsServing } from '../service-pods.ts'
import { managedBy, managedByLabel, serviceNameLabel } from './slices.ts'

export interface Observed {
  service: Service
  /** Undefined for a service without a selector, whose slices are left alone. */
  pods: Pod[] | undefined
  slices: EndpointSlice[]
  nodes: ReadonlyMap<string, Node>
}

/** The key of the service of one of our slices. */
export function serviceKeyOf({ metadata: { namespace, labels } }: EndpointSlice): string | undefined {
  const name = labels?.[serviceNameLabel]
  return name && labels[managedByLabel] === managedBy ? `${namespace}/${name}` : undefined
}

/** Slices by the service in their labels, including slices of deleted services. */
export const slicesByService: CacheIndex = indexing(endpointslices, 'service', (slice) => {
  const key = serviceKeyOf(slice)
  return key ? [key] : []
})

export function observe({ caches }: ObserveContext, service: Service): Observed {
  if (!isServedByPods(service)) return { service, pods: undefined, slices: [], nodes: new Map() }
  const pods = podsServing(caches, service)
  const found = new Map<string, Node>()
  for (const { spec } of pods) {
    const name = spec?.nodeName
    const node = name && !found.has(name) ? caches.get(nodes, '', name) : undefined
    if (node) found.set(name!, node)
  }
  const { namespace, name } = service.metadata
  const slices = caches
    .byIndex(endpointslices, slicesByService.name, `${namespace}/${name}`)
    .filter((slice) => !slice.metadata.deletionTimestamp)
  return { service, pods, slices, nodes: found }
}
