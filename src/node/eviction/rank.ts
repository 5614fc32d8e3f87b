import type { Pod } from '../../api/generated/types.ts'
import { podRequests } from '../../api/kinds/pods/pod-resources.ts'
import { quantityToNumber } from '../../api/numbers/quantity.ts'
import { type Met, amountText, bytesText, signals } from './signals.ts'

/** A pod that may be evicted, and the memory usage of its containers. */
export interface Candidate {
  pod: Pod
  containers: readonly { name: string; memoryBytes: number }[]
}

const memoryOf = ({ containers }: Candidate): number =>
  containers.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0)

const requestOf = ({ pod }: Candidate): number => quantityToNumber(podRequests(pod)['memory'] ?? '0')

/**
 * Sorts pods for eviction: first those above their memory request, then by ascending priority, then by usage above the
 * request. For other resources only the priority counts. Example: of a pod with priority 1000 at 101 of 100 MiB and one
 * with priority 0 at 100 of 200 MiB, the first is evicted.
 */
export function rankForEviction(
  resource: (typeof signals)[keyof typeof signals]['resource'],
  candidates: readonly Candidate[],
): Candidate[] {
  const ranked = candidates.map((candidate) => {
    const above = resource === 'memory' ? memoryOf(candidate) - requestOf(candidate) : 0
    return { candidate, above, priority: candidate.pod.spec.priority ?? 0 }
  })
  ranked.sort((a, b) => Number(b.above > 0) - Number(a.above > 0) || a.priority - b.priority || b.above - a.above)
  return ranked.map(({ candidate }) => candidate)
}

/** The eviction message of a pod, in kubelet's words. */
export function evictionMessage({ signal, wanted, available }: Met, { pod, containers }: Candidate): string {
  const { resource } = signals[signal]
  const known = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]
  const blamed =
    resource !== 'memory'
      ? []
      : containers.flatMap(({ name, memoryBytes }) => {
          const spec = known.find((container) => container.name === name)
          const request = spec?.resources?.requests?.['memory'] ?? '0'
          return spec && memoryBytes > quantityToNumber(request)
            ? [
                `Container ${name} was using ${bytesText(memoryBytes)}, request is ${request}, has larger consumption of ${resource}. `,
              ]
            : []
        })
  return `The node was low on resource: ${resource}. Threshold quantity: ${amountText(signal, wanted)}, available: ${amountText(signal, available)}. ${blamed.join('')}`
}
