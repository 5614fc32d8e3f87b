/** What events are told apart by, as a file names it: `storageClasses`, `label:app`. */
export type Group = string

/** Those that every pod has, with their names in metrics. */
const fixed: Readonly<Record<Group, string>> = { namespace: 'namespace', runtimeClass: 'runtime_class', storageClasses: 'storage_classes', volumes: 'volumes' }

/** Stands for the values of all groups for which there was no room. */
export const otherValue = '_other'

/** What a file may say. */
export const groupForms = [...Object.keys(fixed), 'label:KEY', 'annotation:KEY']

/** The keys of the pods' labels, or annotations, among groups. */
export const keysOf = (kind: 'label' | 'annotation', groups: readonly Group[]): string[] => groups.flatMap((group) => keyOf(kind, group) ?? [])

/** `app.kubernetes.io/name` is `label_app_kubernetes_io_name`, as kube-state-metrics has it. */
export const metricLabel = (kind: 'label' | 'annotation', key: string): string =>
  `${kind}_${key.replace(/[^a-zA-Z0-9_]/g, '_').replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()}`

/** The name of a group's label in metrics; undefined for what is no group. */
export function groupLabel(group: Group): string | undefined {
  if (Object.hasOwn(fixed, group)) return fixed[group]
  for (const kind of ['label', 'annotation'] as const) {
    const key = keyOf(kind, group)
    if (key !== undefined) return metricLabel(kind, key)
  }
  return undefined
}

/** The names of labels in metrics for groups that a file was allowed to say. */
export const groupLabels = (groups: readonly Group[]): string[] => groups.flatMap((group) => groupLabel(group) ?? [])

function keyOf(kind: 'label' | 'annotation', group: Group): string | undefined {
  return group.startsWith(`${kind}:`) && group.length > kind.length + 1 ? group.slice(kind.length + 1) : undefined
}
