import type { Container, PodSpec } from '../generated/types.ts'
import { compareQuantity } from '../quantity.ts'
import { type FieldError, forbidden, invalid } from '../validation/field-error.ts'
import type { Path } from '../validation/path.ts'
import { addTo, raiseTo } from './amounts.ts'
import { type ResourceList, isHugePages, isPodLevelResource } from './resource-names.ts'
import { validatePodLevelRequirements } from './resource-requirements.ts'

/** An init container that keeps running beside the others: a sidecar. */
export const isRestartableInitContainer = (container: Pick<Container, 'restartPolicy'>): boolean => container.restartPolicy === 'Always'

/**
 * What the containers of a pod ask for together: all containers and sidecars run at once, while of the other init containers
 * only the largest counts, together with the sidecars started before it.
 */
export function aggregateContainers(spec: PodSpec, amountsOf: (container: Container) => ResourceList | undefined): ResourceList {
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

export const aggregateContainerRequests = (spec: PodSpec): ResourceList => aggregateContainers(spec, ({ resources }) => resources?.requests)

/** Pod-level requests that were left out are what the containers ask for, or else the pod-level limits. */
export function defaultPodLevelRequests(spec: PodSpec): void {
  const resources = spec.resources
  if (!resources?.limits && !resources?.requests) return
  const requests = (resources.requests ??= {})
  const aggregate = aggregateContainerRequests(spec)
  for (const name in aggregate) if (isPodLevelResource(name) && !isHugePages(name)) requests[name] ??= aggregate[name]!
  for (const name in resources.limits) if (isPodLevelResource(name)) requests[name] ??= resources.limits[name]!
  if (Object.keys(requests).length === 0) delete resources.requests
}

/** Judges a pod's own `resources`: by themselves, and against those of its containers. */
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
