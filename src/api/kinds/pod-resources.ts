import type { Container, ContainerStatus, Pod } from '../generated/types.ts'
import { isZeroQuantity } from '../quantity.ts'
import { addTo, raiseTo } from './amounts.ts'
import { aggregateContainers } from './pod-level-resources.ts'
import { type ResourceList, isPodLevelResource } from './resource-names.ts'

/** The node cannot make the pod what its spec asks for: what it has counts, and not what it wants. */
const isResizeInfeasible = ({ status }: Pod): boolean =>
  status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible'

type Source = (container: Container, status?: ContainerStatus) => ResourceList | undefined

function total(pod: Pod, source: Source): ResourceList {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
  const statusOf = (name: string) => [...containerStatuses, ...initContainerStatuses].find((status) => status.name === name)
  return aggregateContainers(pod.spec, (container) => source(container, statusOf(container.name)))
}

/** While a pod is being resized, the greatest of what it wants, what it was promised and what it has. */
function greatest(pod: Pod, wanted: Source, others: readonly Source[]): ResourceList {
  const isInfeasible = isResizeInfeasible(pod)
  const result = isInfeasible ? {} : total(pod, wanted)
  if (!pod.status?.containerStatuses && !pod.status?.initContainerStatuses && !isInfeasible) return result
  for (const other of others) {
    raiseTo(result, total(pod, (container, status) => other(container, status) ?? (isInfeasible ? undefined : wanted(container, status))))
  }
  return result
}

const wantedRequests: Source = ({ resources }) => resources?.requests
const wantedLimits: Source = ({ resources }) => resources?.limits
const promisedRequests: Source = (_, status) => status?.allocatedResources
const presentRequests: Source = (_, status) => status?.resources?.requests ?? status?.allocatedResources
const presentLimits: Source = (_, status) => status?.resources?.limits

/** Pod-level amounts stand in for those of the containers. */
function override(amounts: ResourceList, ofPod: ResourceList | undefined): ResourceList {
  for (const name in ofPod) if (isPodLevelResource(name)) amounts[name] = ofPod[name]!
  return amounts
}

/** What a pod asks for by its spec alone. */
export const specRequests = ({ spec }: Pod): ResourceList => override(aggregateContainers(spec, wantedRequests), spec.resources?.requests)

/** What a pod is limited to by its spec alone. */
export const specLimits = ({ spec }: Pod): ResourceList => override(aggregateContainers(spec, wantedLimits), spec.resources?.limits)

/** What a pod takes of a node: what it asks for, or still holds, and what running it costs. */
export function podRequests(pod: Pod): ResourceList {
  const requests = override(greatest(pod, wantedRequests, [promisedRequests, presentRequests]), pod.spec.resources?.requests)
  addTo(requests, pod.spec.overhead)
  return requests
}

/** What a pod may take of a node; what has no limit stays without. */
export function podLimits(pod: Pod): ResourceList {
  const limits = override(greatest(pod, wantedLimits, [presentLimits]), pod.spec.resources?.limits)
  for (const name in pod.spec.overhead) {
    if (limits[name] !== undefined && !isZeroQuantity(limits[name])) addTo(limits, { [name]: pod.spec.overhead[name]! })
  }
  return limits
}
