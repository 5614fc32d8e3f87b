import type { ContainerFigures, NodeFigures } from './node-server.ts'

const nanosPerSecond = 1e9

/** Formats a label value: escapes quotes, backslashes and line ends. */
const quoted = (value: string): string =>
  `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`

type Value = (figures: ContainerFigures) => number | undefined

/** The series of kubelet's `/metrics/cadvisor` that dashboards for Kubernetes read. */
const families: readonly [name: string, type: 'counter' | 'gauge', help: string, value: Value][] = [
  [
    'container_cpu_usage_seconds_total',
    'counter',
    'CPU time of the container in core-seconds.',
    ({ cpuNanos }) => cpuNanos / nanosPerSecond,
  ],
  [
    'container_memory_working_set_bytes',
    'gauge',
    'Memory that cannot be taken from the container, in bytes.',
    ({ memoryBytes }) => memoryBytes,
  ],
  [
    'container_memory_usage_bytes',
    'gauge',
    'Memory of the container in bytes, caches included.',
    ({ usageBytes }) => usageBytes,
  ],
  [
    'container_memory_rss',
    'gauge',
    'Memory of the processes of the container in bytes, without files.',
    ({ rssBytes }) => rssBytes,
  ],
  [
    'container_fs_usage_bytes',
    'gauge',
    'What the container has written over its image, in bytes.',
    ({ diskBytes }) => diskBytes,
  ],
  [
    'container_start_time_seconds',
    'gauge',
    'When the container was started, since the epoch.',
    ({ startedAtMs }) => startedAtMs / 1000,
  ],
  [
    'container_last_seen',
    'gauge',
    'When the figures of the container were read, since the epoch.',
    ({ atMs }) => atMs / 1000,
  ],
]

/**
 * Formats the usage of a node's containers like kubelet's `/metrics/cadvisor`. Values that the runtime does not report
 * are omitted.
 */
export function cadvisorMetrics({ containers }: NodeFigures): string {
  const lines = families.flatMap(([name, type, help, value]) => {
    const series = containers.flatMap((figures) => {
      const number = value(figures)
      const { container, id, image, namespace, pod } = figures
      const labels = [
        `container=${quoted(container)}`,
        `id=${quoted(id)}`,
        `image=${quoted(image)}`,
        `name=${quoted(id)}`,
        `namespace=${quoted(namespace)}`,
        `pod=${quoted(pod)}`,
      ]
      return number === undefined ? [] : [`${name}{${labels.join(',')}} ${number} ${figures.atMs}`]
    })
    return series.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...series]
  })
  return `${lines.join('\n')}\n`
}
