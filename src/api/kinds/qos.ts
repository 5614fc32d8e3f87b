import type { Pod, PodSpec, ResourceRequirements } from '../generated/types.ts'
import { addQuantities, compareQuantity, quantitySign } from '../quantity.ts'
import type { ResourceList } from './resource-names.ts'

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

const computeResources = ['cpu', 'memory'] as const

/** Adds the compute resources that are more than zero; says how many there were. */
function addPositive(sum: ResourceList, list: ResourceList | undefined): number {
  if (!list) return 0
  let found = 0
  for (const name of computeResources) {
    const quantity = list[name]
    if (quantity === undefined || quantitySign(quantity) <= 0) continue
    found++
    sum[name] = sum[name] === undefined ? quantity : addQuantities(sum[name], quantity)
  }
  return found
}

const hasPodLevelResources = (spec: PodSpec): boolean => {
  for (const _ in spec.resources?.requests) return true
  for (const _ in spec.resources?.limits) return true
  return false
}

/** Which quality of service the resources of a pod give it: from the pod's own resources if it has any, else from every container's. */
export function computeQosClass(spec: PodSpec): QosClass {
  const requests: ResourceList = {}
  const limits: ResourceList = {}
  let limitsEverywhere = true
  const count = (resources: ResourceRequirements | undefined) => {
    addPositive(requests, resources?.requests)
    if (addPositive(limits, resources?.limits) < computeResources.length) limitsEverywhere = false
  }
  if (hasPodLevelResources(spec)) {
    count(spec.resources)
  } else {
    for (const container of spec.containers ?? []) count(container.resources)
    for (const container of spec.initContainers ?? []) count(container.resources)
  }
  let requested = 0
  let asLimited = true
  for (const name of computeResources) {
    const request = requests[name]
    if (request === undefined) continue
    requested++
    if (limits[name] === undefined || compareQuantity(limits[name], request) !== 0) asLimited = false
  }
  const limited = computeResources.filter((name) => limits[name] !== undefined).length
  if (requested === 0 && limited === 0) return 'BestEffort'
  return limitsEverywhere && asLimited && requested === limited ? 'Guaranteed' : 'Burstable'
}

/** The class in the pod's status, or computed where there is none. */
export const qosClassOf = (pod: Pod): string => pod.status?.qosClass || computeQosClass(pod.spec ?? { containers: [] })
