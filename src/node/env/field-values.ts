import type { Container, Pod, ResourceFieldSelector } from '../../api/generated/types.ts'
import { parseQuantity, quantityMilli, quantityValue } from '../../api/numbers/quantity.ts'

/** Facts about the pod's node that the pod object does not have. */
export interface Place {
  podIps: readonly string[]
  hostIps: readonly string[]
  /** The node's allocatable resources, which replace missing limits. */
  allocatable: Readonly<Record<string, string>>
}

const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/s

/** Formats labels or annotations for a file: one line each, sorted, values quoted as in Go. */
const lines = (map: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(map ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n')

/** The value of a pod field for the downward API. Throws if the field is not supported. */
export function fieldValue(pod: Pod, fieldPath: string, place: Place): string {
  const one = subscript.exec(fieldPath)
  if (one) return pod.metadata[one[1] as 'labels' | 'annotations']?.[one[2]!] ?? ''
  switch (fieldPath) {
    case 'metadata.name':
      return pod.metadata.name ?? ''
    case 'metadata.namespace':
      return pod.metadata.namespace ?? ''
    case 'metadata.uid':
      return pod.metadata.uid ?? ''
    case 'metadata.labels':
      return lines(pod.metadata.labels)
    case 'metadata.annotations':
      return lines(pod.metadata.annotations)
    case 'spec.nodeName':
      return pod.spec.nodeName ?? ''
    case 'spec.serviceAccountName':
      return pod.spec.serviceAccountName ?? ''
    case 'status.hostIP':
      return place.hostIps[0] ?? ''
    case 'status.hostIPs':
      return place.hostIps.join(',')
    case 'status.podIP':
      return place.podIps[0] ?? ''
    case 'status.podIPs':
      return place.podIps.join(',')
    default:
      throw new Error(`unsupported fieldPath: ${fieldPath}`)
  }
}

/**
 * A container's request or limit in units of the divisor, rounded up. A missing limit is the node's allocatable amount.
 * Example: 1500m of CPU with divisor 1 is 2.
 */
export function resourceValue(
  { resource, divisor }: ResourceFieldSelector,
  container: Container,
  place: Place,
): string {
  const at = resource.indexOf('.')
  const [kind, name] = [resource.slice(0, at), resource.slice(at + 1)]
  const { requests, limits } = container.resources ?? {}
  const isSet = kind === 'requests' ? requests?.[name] : limits?.[name]
  const amount = isSet ?? (kind === 'limits' ? (place.allocatable[name] ?? '0') : '0')
  const unit = divisor === undefined || parseQuantity(divisor).mantissa === 0n ? '1' : divisor
  if (name === 'cpu') return String((quantityMilli(amount) + quantityMilli(unit) - 1n) / quantityMilli(unit))
  return String((quantityValue(amount) + quantityValue(unit) - 1n) / quantityValue(unit))
}
