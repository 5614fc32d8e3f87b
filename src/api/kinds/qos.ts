import type { Pod, PodSpec, ResourceRequirements } from '../generated/types.ts'
import { compareQuantity, quantitySign } from '../quantity.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const hasPodLevelResources = (spec: PodSpec): boolean => {
  for (const _ in spec.resources?.requests) return true
  for (const _ in spec.resources?.limits) return true
  return false
}

const positive = (quantity: string | undefined): string | undefined => (quantity !== undefined && quantitySign(quantity) > 0 ? quantity : undefined)

/** What has been seen so far of the resources of a pod. */
class Tally {
  isAnythingAsked = false
  isGuaranteed = true

  count(resources: ResourceRequirements | undefined): void {
    this.#countOne(resources?.requests?.['cpu'], resources?.limits?.['cpu'])
    this.#countOne(resources?.requests?.['memory'], resources?.limits?.['memory'])
  }

  // Requests are never above limits, so that the sums are equal only where every single one is.
  #countOne(requested: string | undefined, limited: string | undefined): void {
    const request = positive(requested)
    const limit = positive(limited)
    if (request !== undefined || limit !== undefined) this.isAnythingAsked = true
    if (request === undefined || limit === undefined || (request !== limit && compareQuantity(request, limit) !== 0)) {
      this.isGuaranteed = false
    }
  }
}

/** Which quality of service the resources of a pod give it: from the pod's own resources if it has any, else from every container's. */
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

/** The class in the pod's status, or computed where there is none. */
export const qosClassOf = (pod: Pod): string => pod.status?.qosClass || computeQosClass(pod.spec)
