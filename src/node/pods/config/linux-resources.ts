import type { Pod } from '../../../api/generated/types.ts'
import { podLimits, podRequests } from '../../../api/kinds/pods/pod-resources.ts'
import { computeQosClass } from '../../../api/kinds/pods/qos.ts'
import { quantityMilli, quantityToNumber } from '../../../api/numbers/quantity.ts'
import type { LinuxResources } from '../../runtime/runtime.ts'
import { isNodeCritical } from '../critical.ts'
import type { PodContainer } from '../containers.ts'

type Amounts = Readonly<Record<string, string>>

const cpuPeriod = 100_000
const leastQuota = 1000
const leastShares = 2
const mostShares = 262_144

/** Converts CPU to cgroup shares: one core is 1024 shares, so 250m is 256. */
const sharesOf = (milli: number): number =>
  Math.min(mostShares, Math.max(leastShares, Math.floor((milli * 1024) / 1000)))
const milliOf = (amount: string | undefined): number => (amount === undefined ? 0 : Number(quantityMilli(amount)))
const bytesOf = (amount: string | undefined): number => (amount === undefined ? 0 : quantityToNumber(amount))

function cpuLimit(milli: number): Pick<LinuxResources, 'cpuQuota' | 'cpuPeriod'> {
  return milli > 0 ? { cpuQuota: Math.max(leastQuota, (milli * cpuPeriod) / 1000), cpuPeriod } : {}
}

const memoryLimit = (bytes: number): Pick<LinuxResources, 'memoryLimitBytes'> =>
  bytes > 0 ? { memoryLimitBytes: bytes } : {}

/** Converts a page size: `hugepages-2Mi` in Kubernetes is `2MB` in the kernel. */
const hugepagesOf = (limits: Amounts): Record<string, number> =>
  Object.fromEntries(
    Object.entries(limits)
      .filter(([name]) => name.startsWith('hugepages-'))
      .map(([name, amount]) => [`${name.slice('hugepages-'.length).replace(/i$/, '')}B`, quantityToNumber(amount)]),
  )

/** The cgroup limits of one container. */
export function containerResources(pod: Pod, { spec }: PodContainer, nodeMemoryBytes: number): LinuxResources {
  const { requests = {}, limits = {} } = spec.resources ?? {}
  const cpu = requests['cpu'] ?? limits['cpu']
  return {
    cpuShares: sharesOf(milliOf(cpu)),
    ...cpuLimit(milliOf(limits['cpu'])),
    ...memoryLimit(bytesOf(limits['memory'])),
    oomScoreAdj: oomScoreAdj(pod, bytesOf(requests['memory'] ?? limits['memory']), nodeMemoryBytes),
    hugepages: hugepagesOf(limits),
  }
}

/** The cgroup limits of a pod. A resource is limited only if the pod or each of its containers limits it. */
export function podResources(pod: Pod): LinuxResources {
  const { containers, initContainers = [], resources } = pod.spec
  const all = [...containers, ...initContainers]
  const isLimited = (name: string) =>
    resources?.limits?.[name] !== undefined || all.every((c) => c.resources?.limits?.[name] !== undefined)
  // A pending resize is infeasible for running containers only: the next one has the new resources. So the larger count.
  const counted = { ...pod, status: { ...pod.status, conditions: [] } }
  const requests = podRequests(counted) as Amounts
  const limits = podLimits(counted) as Amounts
  return {
    cpuShares: sharesOf(milliOf(requests['cpu'])),
    ...(isLimited('cpu') ? cpuLimit(milliOf(limits['cpu'])) : {}),
    ...(isLimited('memory') ? memoryLimit(bytesOf(limits['memory'])) : {}),
    hugepages: hugepagesOf(limits),
  }
}

/** The overhead of the pod's runtime class. */
export const overheadResources = (overhead: Amounts): LinuxResources => ({
  cpuShares: sharesOf(milliOf(overhead['cpu'])),
  ...cpuLimit(milliOf(overhead['cpu'])),
  ...memoryLimit(bytesOf(overhead['memory'])),
  hugepages: {},
})

const guaranteedScore = -997
const bestEffortScore = 1000

/**
 * The container's OOM score adjustment by kubelet's rules: the kernel kills the highest score first. The score of a
 * burstable container falls with its share of the node's memory: a request of 1 GiB of 4 GiB gives 750.
 */
function oomScoreAdj(pod: Pod, requestedBytes: number, nodeMemoryBytes: number): number {
  if (isNodeCritical(pod)) return guaranteedScore
  const qos = computeQosClass(pod.spec)
  if (qos === 'Guaranteed') return guaranteedScore
  if (qos === 'BestEffort' || nodeMemoryBytes <= 0) return bestEffortScore
  const score = bestEffortScore - Math.floor((bestEffortScore * requestedBytes) / nodeMemoryBytes)
  return Math.min(bestEffortScore - 1, Math.max(bestEffortScore + guaranteedScore, score))
}
