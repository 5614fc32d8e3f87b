import { semanticEqual } from '../../api/deep-equal.ts'
import type { Endpoints, EndpointSubset, Pod, Service } from '../../api/generated/types.ts'
import { isControlledBy, ownerReference } from '../../client/index.ts'
import type { Step } from '../kit/index.ts'
import { headlessLabel, isHeadless, readySince, triggerTimeAnnotation } from '../service-pods.ts'
import { subsetsOf, truncate } from './subsets.ts'
import { earliest } from '../../api/object.ts'

export interface Observed {
  service: Service
  /** Undefined for a service without a selector, whose Endpoints are left alone. */
  pods: Pod[] | undefined
  endpoints: Endpoints | undefined
}

export type Action =
  | { kind: 'CreateEndpoints'; endpoints: Endpoints }
  | { kind: 'UpdateEndpoints'; endpoints: Endpoints }

const managedByLabel = 'endpoints.kubernetes.io/managed-by'
const overCapacity = 'endpoints.kubernetes.io/over-capacity'

/** Maintains one object with the name of the service. */
export function plan({ service, pods, endpoints }: Observed): Step<Action> {
  if (!pods || endpoints?.metadata.deletionTimestamp) return { actions: [] }
  const { subsets, isTruncated } = truncate(subsetsOf(service, pods))
  const labels = labelsOf(service)
  const annotations = { ...endpoints?.metadata.annotations }
  if (isTruncated) annotations[overCapacity] = 'truncated'
  else delete annotations[overCapacity]
  const { namespace, name } = service.metadata
  if (!endpoints) {
    const time = earliest([service.metadata.creationTimestamp, ...pods.map(readySince)])
    const metadata = { name, namespace, labels, annotations: withTime(annotations, time) }
    return { actions: [{ kind: 'CreateEndpoints', endpoints: { metadata, subsets } }] }
  }
  const isSame =
    isControlledBy(endpoints, service) &&
    semanticEqual(withoutVersions(endpoints.subsets), subsets) &&
    semanticEqual(endpoints.metadata.labels, labels) &&
    endpoints.metadata.annotations?.[overCapacity] === annotations[overCapacity]
  if (isSame) return { actions: [] }
  const metadata = {
    ...endpoints.metadata,
    labels,
    annotations: withTime(annotations, changeTime(endpoints.subsets, subsets, pods)),
    ownerReferences: [ownerReference({ ...service, apiVersion: 'v1', kind: 'Service' }, { controller: true })],
  }
  return { actions: [{ kind: 'UpdateEndpoints', endpoints: { ...endpoints, metadata, subsets } }] }
}

const labelsOf = (service: Service): Record<string, string> => {
  const { [headlessLabel]: _, ...labels } = service.metadata.labels ?? {}
  return { ...labels, [managedByLabel]: 'endpoint-controller', ...(isHeadless(service) ? { [headlessLabel]: '' } : {}) }
}

const withTime = (annotations: Record<string, string>, time: string | undefined): Record<string, string> => {
  const { [triggerTimeAnnotation]: _, ...others } = annotations
  return time ? { ...others, [triggerTimeAnnotation]: time } : others
}

/** The time of the first change among the pods whose state has changed. */
function changeTime(
  before: readonly EndpointSubset[] | undefined,
  after: readonly EndpointSubset[],
  pods: readonly Pod[],
): string | undefined {
  const old = statesOf(before ?? [])
  const fresh = new Set([...statesOf(after)].filter((state) => !old.has(state)).map((state) => state.split(' ')[0]))
  return earliest(pods.filter((pod) => fresh.has(pod.metadata.name)).map(readySince))
}

const statesOf = (subsets: readonly EndpointSubset[]): Set<string> =>
  new Set(
    subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [
      ...addresses.map(({ targetRef, ip }) => `${targetRef?.name} ${ip} ready`),
      ...notReadyAddresses.map(({ targetRef, ip }) => `${targetRef?.name} ${ip}`),
    ]),
  )

/** Other writers record the resource version of the pod, which is ignored. */
function withoutVersions(subsets: readonly EndpointSubset[] | undefined): EndpointSubset[] {
  const plain = (list: EndpointSubset['addresses']) =>
    list?.map(({ targetRef, ...address }) => ({
      ...address,
      ...(targetRef ? { targetRef: { ...targetRef, resourceVersion: undefined } } : {}),
    }))
  return (subsets ?? []).map((subset) => ({
    ...subset,
    addresses: plain(subset.addresses),
    notReadyAddresses: plain(subset.notReadyAddresses),
  }))
}
