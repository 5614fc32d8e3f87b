import type { Container, ContainerStatus, Pod } from '../../generated/types.ts'
import { isZeroQuantity } from '../../numbers/quantity.ts'
import { addTo, raiseTo } from '../quantities/amounts.ts'
import { aggregateContainers } from './pod-level-resources.ts'
import { type ResourceList, isPodLevelResource } from '../quantities/resource-names.ts'

/** True if the node cannot apply a resize. Then the allocated resources count, and not those of the spec. */
const isResizeInfeasible = ({ status }: Pod): boolean =>
  status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible'

type Source = (container: Container, status?: ContainerStatus) => ResourceList | undefined

function total(pod: Pod, source: Source): ResourceList {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
  const statusOf = (name: string) =>
    [...containerStatuses, ...initContainerStatuses].find((status) => status.name === name)
  return aggregateContainers(pod.spec, (container) => source(container, statusOf(container.name)))
}

/** During a resize, the maximum of the desired, allocated and actual resources. */
function greatest(pod: Pod, wanted: Source, others: readonly Source[]): ResourceList {
  const isInfeasible = isResizeInfeasible(pod)
  const result = isInfeasible ? {} : total(pod, wanted)
  if (!pod.status?.containerStatuses && !pod.status?.initContainerStatuses && !isInfeasible) return result
  for (const other of others) {
    raiseTo(
      result,
      total(
        pod,
        (container, status) => other(container, status) ?? (isInfeasible ? undefined : wanted(container, status)),
      ),
    )
  }
  return result
}

const wantedRequests: Source = ({ resources }) => resources?.requests
const wantedLimits: Source = ({ resources }) => resources?.limits
const promisedRequests: Source = (_, status) => status?.allocatedResources
const presentRequests: Source = (_, status) => status?.resources?.requests ?? status?.allocatedResources
const presentLimits: Source = (_, status) => status?.resources?.limits

/** Pod-level resources replace those of the containers. */
function override(amounts: ResourceList, ofPod: ResourceList | undefined): ResourceList {
  for (const name in ofPod) if (isPodLevelResource(name)) amounts[name] = ofPod[name]!
  return amounts
}

/** The requests of a pod according to its spec. */
export const specRequests = ({ spec }: Pod): ResourceList =>
  override(aggregateContainers(spec, wantedRequests), spec.resources?.requests)

/** The limits of a pod according to its spec. */
export const specLimits = ({ spec }: Pod): ResourceList =>
  override(aggregateContainers(spec, wantedLimits), spec.resources?.limits)

/** The resources that a pod occupies on a node: its requests, or what it still holds, plus its overhead. */
export function podRequests(pod: Pod): ResourceList {
  const requests = override(
    greatest(pod, wantedRequests, [promisedRequests, presentRequests]),
    pod.spec.resources?.requests,
  )
  addTo(requests, pod.spec.overhead)
  return requests
}

/** The limits of a pod on a node, with its overhead. A resource without a limit stays absent. */
export function podLimits(pod: Pod): ResourceList {
  const limits = override(greatest(pod, wantedLimits, [presentLimits]), pod.spec.resources?.limits)
  for (const name in pod.spec.overhead) {
    if (limits[name] !== undefined && !isZeroQuantity(limits[name])) addTo(limits, { [name]: pod.spec.overhead[name]! })
  }
  return limits
}
