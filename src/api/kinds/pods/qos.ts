import type { Pod, PodSpec, ResourceRequirements } from '../../generated/types.ts'
import { compareQuantity, quantitySign } from '../../numbers/quantity.ts'

type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const hasPodLevelResources = (spec: PodSpec): boolean => {
  for (const _ in spec.resources?.requests) return true
  for (const _ in spec.resources?.limits) return true
  return false
}

const positive = (quantity: string | undefined): string | undefined =>
  quantity !== undefined && quantitySign(quantity) > 0 ? quantity : undefined

/** The totals of a pod's resources so far. */
class Tally {
  isAnythingAsked = false
  isGuaranteed = true

  count(resources: ResourceRequirements | undefined): void {
    this.#countOne(resources?.requests?.['cpu'], resources?.limits?.['cpu'])
    this.#countOne(resources?.requests?.['memory'], resources?.limits?.['memory'])
  }

  // Requests never exceed limits, so the sums are equal only if every pair is equal.
  #countOne(requested: string | undefined, limited: string | undefined): void {
    const request = positive(requested)
    const limit = positive(limited)
    if (request !== undefined || limit !== undefined) this.isAnythingAsked = true
    if (request === undefined || limit === undefined || (request !== limit && compareQuantity(request, limit) !== 0)) {
      this.isGuaranteed = false
    }
  }
}

/** The QoS class of a pod: from its pod-level resources if it has any, otherwise from all containers. */
export function computeQosClass(spec: PodSpec): QosClass {
  const tally = new Tally()
  if (hasPodLevelResources(spec)) {
    tally.count(spec.resources)
  } else {
    for (const container of spec.containers ?? []) tally.count(container.resources)
    for (const container of spec.initContainers ?? []) tally.count(container.resources)
  }
  if (!tally.isAnythingAsked) return 'BestEffort'
  return tally.isGuaranteed ? 'Guaranteed' : 'Burstable'
}

/** The QoS class in the pod's status, computed if it is absent. */
export const qosClassOf = (pod: Pod): string => pod.status?.qosClass || computeQosClass(pod.spec)
