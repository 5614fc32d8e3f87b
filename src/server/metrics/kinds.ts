import type { KubeObject } from '../../api/object.ts'
import { nameColumn } from '../answers/columns.ts'
import type { Column, Tabular, VirtualKind } from '../registry/resource.ts'
import type { UsageList } from './usage.ts'

export const group = 'metrics.k8s.io'
const version = 'v1beta1'
export const apiVersion = `${group}/${version}`

export type MetricsKind = Omit<VirtualKind, 'answer'>

const verbs: VirtualKind['verbs'] = ['get', 'list']

export const nodeMetrics: MetricsKind = {
  group,
  version,
  kind: 'NodeMetrics',
  plural: 'nodes',
  namespaced: false,
  verbs,
}
export const podMetrics: MetricsKind = { group, version, kind: 'PodMetrics', plural: 'pods', namespaced: true, verbs }

interface Metrics extends KubeObject {
  usage?: UsageList
  containers?: { name: string; usage: UsageList }[]
  window?: string
}

/** The usage of a node, or of each container of a pod. */
const usages = ({ usage, containers = [] }: Metrics): UsageList[] => (usage ? [usage] : containers.map((c) => c.usage))

const usageColumn = (name: 'cpu' | 'memory'): Column<Metrics> => ({
  name,
  type: 'string',
  description: `Usage: ${name}`,
  cell: (metrics) =>
    usages(metrics)
      .map((usage) => usage[name])
      .join(','),
})

const columns: readonly Column<Metrics>[] = [
  nameColumn(),
  usageColumn('cpu'),
  usageColumn('memory'),
  {
    name: 'Window',
    type: 'string',
    description: 'The time over which it was measured.',
    cell: ({ window = '' }) => window,
  },
]

/** The columns of `kubectl get` for metrics. */
export const metricsTabular: Tabular = { columns: columns as unknown as readonly Column<KubeObject>[] }
