/** The usage of a container: CPU since its start, memory now. */
export interface ContainerReading {
  cpuSeconds: number
  memoryBytes: number
  startedAtMs: number | undefined
  /** The time of the reading. Default: the time of the request. */
  atMs: number | undefined
}

/** One response of a node. */
export interface Scrape {
  atMs: number
  node: { cpuSeconds: number; memoryBytes: number } | undefined
  /** By `NAMESPACE/POD`, then by container. */
  pods: ReadonlyMap<string, ReadonlyMap<string, ContainerReading>>
}

const seriesLine = /^(\w+)(?:\{([^}]*)\})? (\S+)(?: (\d+))?$/
const label = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** Parses a kubelet's `/metrics/resource`. Other metrics are ignored. `nowMs` is the default timestamp. */
export function parseResourceMetrics(text: string, nowMs: number): Scrape {
  const pods = new Map<string, Map<string, Partial<ContainerReading>>>()
  const node: { cpuSeconds?: number; memoryBytes?: number } = {}
  let atMs: number | undefined
  for (const line of text.split('\n')) {
    const [, name, labels = '', value, time] = seriesLine.exec(line) ?? []
    const number = Number(value)
    if (name === undefined || !Number.isFinite(number)) continue
    if (name === 'node_cpu_usage_seconds_total') {
      node.cpuSeconds = number
      if (time) atMs = Number(time)
    } else if (name === 'node_memory_working_set_bytes') node.memoryBytes = number
    else if (name.startsWith('container_')) set(containerIn(pods, labels), name, number, time)
  }
  return { atMs: atMs ?? nowMs, node: isWhole(node) ? node : undefined, pods: onlyWhole(pods) }
}

function containerIn(
  pods: Map<string, Map<string, Partial<ContainerReading>>>,
  labels: string,
): Partial<ContainerReading> {
  const {
    namespace,
    pod,
    container = '',
  } = Object.fromEntries([...labels.matchAll(label)].map(([, key, value]) => [key!, value!])) as Partial<
    Record<string, string>
  >
  const key = `${namespace}/${pod}`
  let containers = pods.get(key)
  if (!containers) pods.set(key, (containers = new Map()))
  let found = containers.get(container)
  if (!found) containers.set(container, (found = {}))
  return found
}

function set(container: Partial<ContainerReading>, name: string, value: number, time: string | undefined): void {
  if (name === 'container_cpu_usage_seconds_total') {
    container.cpuSeconds = value
    if (time) container.atMs = Number(time)
  } else if (name === 'container_memory_working_set_bytes') container.memoryBytes = value
  else if (name === 'container_start_time_seconds') container.startedAtMs = value * 1000
}

const isWhole = (reading: {
  cpuSeconds?: number
  memoryBytes?: number
}): reading is { cpuSeconds: number; memoryBytes: number } =>
  reading.cpuSeconds !== undefined && reading.memoryBytes !== undefined

function onlyWhole(pods: ReadonlyMap<string, ReadonlyMap<string, Partial<ContainerReading>>>): Scrape['pods'] {
  const whole = new Map<string, Map<string, ContainerReading>>()
  for (const [key, containers] of pods) {
    const kept = [...containers].filter(([, reading]) => isWhole(reading)) as [string, ContainerReading][]
    if (kept.length > 0) whole.set(key, new Map(kept))
  }
  return whole
}
