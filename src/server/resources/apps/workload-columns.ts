import { describeField } from '../../../api/schema/descriptions.ts'
import type { LabelSelector, PodTemplateSpec } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { labelSelectorText } from '../../../api/selectors/label-selector.ts'
import type { Column } from '../../registry/resource.ts'

/** The container names and images of a template, in wide output. */
export function containerColumns<T extends KubeObject>(
  templateOf: (obj: T) => PodTemplateSpec | undefined,
): Column<T>[] {
  const list = (obj: T, field: 'name' | 'image') =>
    (templateOf(obj)?.spec?.containers ?? []).map((container) => container[field] ?? '').join(',')
  return [
    {
      name: 'Containers',
      type: 'string',
      priority: 1,
      description: 'Names of each container in the template.',
      cell: (obj) => list(obj, 'name'),
    },
    {
      name: 'Images',
      type: 'string',
      priority: 1,
      description: 'Images referenced by each container in the template.',
      cell: (obj) => list(obj, 'image'),
    },
  ]
}

/** The selector, in wide output. */
export const selectorColumn = <T extends KubeObject>(
  description: string,
  selectorOf: (obj: T) => LabelSelector | null | undefined,
): Column<T> => ({
  name: 'Selector',
  type: 'string',
  priority: 1,
  description,
  cell: (obj) => labelSelectorText(selectorOf(obj)),
})

/** An integer column, described by a field of the schema. */
export const countColumn = <T extends KubeObject>(
  name: string,
  type: string,
  field: string,
  count: (obj: T) => number | undefined,
): Column<T> => ({
  name,
  type: 'integer',
  description: () => describeField(type, field),
  cell: (obj) => count(obj) ?? 0,
})

/** Ready and desired pods: `2/3`. */
export const readyColumn = <T extends KubeObject>(
  ready: (obj: T) => number | undefined,
  wanted: (obj: T) => number | undefined,
): Column<T> => ({
  name: 'Ready',
  type: 'string',
  description: 'Number of the pod with ready state',
  cell: (obj) => `${ready(obj) ?? 0}/${wanted(obj) ?? 0}`,
})

/** Formats labels as kubectl does: `a=b,c=d`, `<none>` for an empty map. */
export function labelsText(labels: Record<string, string> | null | undefined): string {
  const pairs = Object.keys(labels ?? {})
    .sort()
    .map((key) => `${key}=${labels![key]}`)
  return pairs.join(',') || '<none>'
}
