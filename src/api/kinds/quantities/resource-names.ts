import { parseQuantity, quantityIsInteger, quantityValue, roundUpToMilli } from '../../numbers/quantity.ts'
import { isQualifiedName } from '../../validation/names.ts'

/** Amounts by resource name, as in `requests`. */
export type ResourceList = Record<string, string>

const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage'])

const countedResources = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]

const standardResources = new Set([
  ...containerResources,
  ...[...containerResources].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...countedResources,
  'storage',
  'requests.storage',
])

const integerResources = new Set(countedResources)

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-')

/** True for a name that Kubernetes defines: without a domain, or in kubernetes.io. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/')

/** True for an extended resource such as `example.com/gpu`. It is counted in whole numbers and never overcommitted. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false
  return isQualifiedName(`requests.${name}`).length === 0
}

export const isStandardResource = (name: string): boolean =>
  standardResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')

export const isStandardContainerResource = (name: string): boolean => containerResources.has(name) || isHugePages(name)

/** True if the request may be lower than the limit. */
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name)

export const isIntegerResource = (name: string): boolean => integerResources.has(name) || isExtendedResource(name)

/** Resources that may have pod-level requests and limits. */
export const isPodLevelResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name)

/** True if an amount of huge pages is a multiple of the page size in the name. */
export function isWholeHugePages(name: string, quantity: string): boolean {
  let pageSize: bigint
  const size = name.slice('hugepages-'.length)
  try {
    parseQuantity(size)
    pageSize = quantityValue(size)
  } catch {
    return false // a name that carries no size has no multiple either
  }
  return pageSize > 0n && quantityIsInteger(size) && quantityValue(quantity) % pageSize === 0n
}

/** Rounds amounts up to thousandths, in place. A list without finer amounts is not modified. */
export function roundResourcesUpToMilli(list: ResourceList | undefined): void {
  for (const name in list) {
    const rounded = roundUpToMilli(list[name]!)
    if (rounded !== list[name]) list[name] = rounded
  }
}
