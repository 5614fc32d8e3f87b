import { canonicalQuantity } from '../../api/numbers/quantity.ts'
import type { ContainerReading, Scrape } from './exposition.ts'

/** Usage in the form of the API: `{ cpu: 12m, memory: 8Mi }`. */
export interface UsageList {
  cpu: string
  memory: string
}

/** The usage of a node and its pods in an interval. */
export interface NodeUsage {
  atMs: number
  windowMs: number
  node: UsageList | undefined
  /** By `NAMESPACE/POD`, then by container. */
  pods: ReadonlyMap<string, ReadonlyMap<string, UsageList>>
}

const bytesPerKi = 1024

function usageList(cpuSeconds: number, overMs: number, memoryBytes: number): UsageList {
  const nanoCores = overMs > 0 ? Math.max(0, Math.round((cpuSeconds / overMs) * 1000 * 1e9)) : 0
  return {
    cpu: canonicalQuantity(`${nanoCores}n`),
    memory: canonicalQuantity(`${Math.floor(memoryBytes / bytesPerKi)}Ki`),
  }
}

/** The usage between two readings. A container that is new or was restarted counts from its start. */
export function usageBetween(first: Scrape, second: Scrape): NodeUsage {
  const windowMs = second.atMs - first.atMs
  const ofContainer = (before: ContainerReading | undefined, now: ContainerReading): UsageList => {
    const atMs = now.atMs ?? second.atMs
    const isSame = before !== undefined && before.startedAtMs === now.startedAtMs && before.cpuSeconds <= now.cpuSeconds
    if (isSame)
      return usageList(now.cpuSeconds - before.cpuSeconds, atMs - (before.atMs ?? first.atMs), now.memoryBytes)
    return usageList(now.cpuSeconds, atMs - (now.startedAtMs ?? first.atMs), now.memoryBytes)
  }
  const pods = new Map<string, Map<string, UsageList>>()
  for (const [key, containers] of second.pods) {
    const before = first.pods.get(key)
    pods.set(key, new Map([...containers].map(([name, now]) => [name, ofContainer(before?.get(name), now)])))
  }
  const node =
    second.node &&
    usageList(
      second.node.cpuSeconds - (first.node?.cpuSeconds ?? second.node.cpuSeconds),
      windowMs,
      second.node.memoryBytes,
    )
  return { atMs: second.atMs, windowMs, node, pods }
}
