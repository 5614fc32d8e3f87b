/** A grouping of events as a file names it: `storageClasses`, `label:app`. */
export type Group = string

/** The groupings that every pod has, with their metric labels. */
const fixed: Readonly<Record<Group, string>> = {
  namespace: 'namespace',
  runtimeClass: 'runtime_class',
  storageClasses: 'storage_classes',
  volumes: 'volumes',
}

/** The label value of the shared entry of all groups beyond the limit. */
export const otherValue = '_other'

/** The valid groupings of a file. */
export const groupForms = [...Object.keys(fixed), 'label:KEY', 'annotation:KEY']

/** The label and annotation keys among groupings. */
export const keysOf = (kind: 'label' | 'annotation', groups: readonly Group[]): string[] =>
  groups.flatMap((group) => keyOf(kind, group) ?? [])

/**
 * The metric label of a key: `app.kubernetes.io/name` becomes `label_app_kubernetes_io_name`, as in kube-state-metrics.
 */
export const metricLabel = (kind: 'label' | 'annotation', key: string): string =>
  `${kind}_${key
    .replace(/[^a-zA-Z0-9_]/g, '_')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()}`

/** The metric label of a grouping. Undefined for an invalid one. */
export function groupLabel(group: Group): string | undefined {
  if (Object.hasOwn(fixed, group)) return fixed[group]
  for (const kind of ['label', 'annotation'] as const) {
    const key = keyOf(kind, group)
    if (key !== undefined) return metricLabel(kind, key)
  }
  return undefined
}

/** The metric labels of validated groupings. */
export const groupLabels = (groups: readonly Group[]): string[] => groups.flatMap((group) => groupLabel(group) ?? [])

function keyOf(kind: 'label' | 'annotation', group: Group): string | undefined {
  return group.startsWith(`${kind}:`) && group.length > kind.length + 1 ? group.slice(kind.length + 1) : undefined
}
