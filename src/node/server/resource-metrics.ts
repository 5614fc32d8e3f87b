import type { NodeFigures } from './node-server.ts'

const nanosPerSecond = 1e9

/** Formats the usage of a node like kubelet's `/metrics/resource`, which metrics servers read. */
export function resourceMetrics({ node, containers }: NodeFigures): string {
  const family = (name: string, type: 'counter' | 'gauge', help: string, series: readonly string[]) => [
    `# HELP ${name} [STABLE] ${help}`,
    `# TYPE ${name} ${type}`,
    ...series.map((line) => `${name}${line}`),
  ]
  const of = ({ namespace, pod, container }: NodeFigures['containers'][number]) =>
    `{container="${container}",namespace="${namespace}",pod="${pod}"}`
  return [
    ...family(
      'container_cpu_usage_seconds_total',
      'counter',
      'CPU time of the container in core-seconds',
      containers.map((c) => `${of(c)} ${c.cpuNanos / nanosPerSecond} ${c.atMs}`),
    ),
    ...family(
      'container_memory_working_set_bytes',
      'gauge',
      'Memory of the container in bytes',
      containers.map((c) => `${of(c)} ${c.memoryBytes} ${c.atMs}`),
    ),
    ...family(
      'container_start_time_seconds',
      'gauge',
      'When the container was started, since the epoch',
      containers.map((c) => `${of(c)} ${c.startedAtMs / 1000}`),
    ),
    ...family('node_cpu_usage_seconds_total', 'counter', 'CPU time of the node in core-seconds', [
      ` ${node.cpuNanos / nanosPerSecond} ${node.atMs}`,
    ]),
    ...family('node_memory_working_set_bytes', 'gauge', 'Memory of the node in bytes', [
      ` ${node.memoryBytes} ${node.atMs}`,
    ]),
    '',
  ].join('\n')
}
