import type { Container, PodSpec } from '../../generated/types.ts'
import { compareQuantity } from '../../numbers/quantity.ts'
import { type FieldError, forbidden, invalid } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'
import { addTo, raiseTo } from '../quantities/amounts.ts'
import { type ResourceList, isHugePages, isPodLevelResource } from '../quantities/resource-names.ts'
import { validatePodLevelRequirements } from '../containers/resource-requirements.ts'

/** True for an init container that keeps running beside the others: a sidecar. */
export const isRestartableInitContainer = (container: Pick<Container, 'restartPolicy'>): boolean =>
  container.restartPolicy === 'Always'

/**
 * The total requests of a pod's containers: all containers and sidecars run at once. Of the other init containers, only
 * the largest counts, plus the sidecars started before it. For example, init containers of 2 and 3 CPUs before one
 * container of 1 CPU request 3 CPUs.
 */
export function aggregateContainers(
  spec: PodSpec,
  amountsOf: (container: Container) => ResourceList | undefined,
): ResourceList {
  const running: ResourceList = {}
  for (const container of spec.containers ?? []) addTo(running, amountsOf(container))
  if (!spec.initContainers?.length) return running
  const sidecars: ResourceList = {}
  const starting: ResourceList = {}
  for (const container of spec.initContainers) {
    const amounts = amountsOf(container)
    if (isRestartableInitContainer(container)) {
      addTo(running, amounts)
      addTo(sidecars, amounts)
      raiseTo(starting, sidecars)
    } else {
      const together = { ...sidecars }
      addTo(together, amounts)
      raiseTo(starting, together)
    }
  }
  raiseTo(running, starting)
  return running
}

const aggregateContainerRequests = (spec: PodSpec): ResourceList =>
  aggregateContainers(spec, ({ resources }) => resources?.requests)

/** Missing pod-level requests default to the total of the containers' requests, otherwise to the pod-level limits. */
export function defaultPodLevelRequests(spec: PodSpec): void {
  const resources = spec.resources
  if (!resources?.limits && !resources?.requests) return
  const requests = (resources.requests ??= {})
  const aggregate = aggregateContainerRequests(spec)
  for (const name in aggregate) if (isPodLevelResource(name) && !isHugePages(name)) requests[name] ??= aggregate[name]!
  for (const name in resources.limits) if (isPodLevelResource(name)) requests[name] ??= resources.limits[name]!
  if (Object.keys(requests).length === 0) delete resources.requests
}

/** Validates pod-level resources: by themselves, and against those of the containers. */
export function validatePodLevelResources(spec: PodSpec, path: Path, errors: FieldError[]): void {
  const resources = spec.resources
  if (!resources) return
  if (resources.claims) errors.push(forbidden(path.child('claims'), 'claims cannot be set for Resources at pod-level'))
  validatePodLevelRequirements(resources, path, errors)
  const aggregate = aggregateContainerRequests(spec)
  for (const name of Object.keys(aggregate).sort()) {
    const ofPod = resources.requests?.[name] ?? '0'
    if (compareQuantity(aggregate[name]!, ofPod) > 0) {
      errors.push(
        invalid(
          path.child('requests').key(name),
          ofPod,
          `must be greater than or equal to aggregate container requests of ${aggregate[name]}`,
        ),
      )
    }
  }
  for (const [i, container] of (spec.containers ?? []).entries()) {
    const limits = container.resources?.limits
    for (const name of Object.keys(limits ?? {}).sort()) {
      const ofPod = resources.limits?.[name]
      if (ofPod === undefined || compareQuantity(limits![name]!, ofPod) <= 0) continue
      errors.push(
        invalid(
          path.child('containers').index(i).key(name).child('limits'),
          limits![name],
          `must be less than or equal to pod limits of ${ofPod}`,
        ),
      )
    }
  }
}
