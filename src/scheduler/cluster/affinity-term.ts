import type { Pod, PodAffinityTerm, WeightedPodAffinityTerm } from '../../api/generated/types.ts'
import { type Labels, compileLabelSelector } from '../../api/selectors/label-selector.ts'

/** The labels of a namespace, for terms that choose namespaces by them. */
export type NamespaceLabels = (namespace: string) => Labels

/** What a pod says of others that it wants near, or not: made once a pod. */
export interface AffinityTerm {
  /** The same for terms that mean the same. */
  readonly key: string
  readonly topologyKey: string
  /** The only namespace that it is about; undefined if it may be several. */
  readonly namespace: string | undefined
  selects(labels: Labels, namespace: string, labelsOf: NamespaceLabels): boolean
}

export interface WeightedTerm {
  term: AffinityTerm
  weight: number
}

/** Turns a term of a pod in this namespace into its matcher. */
export function compileTerm(term: PodAffinityTerm, ownNamespace: string): AffinityTerm {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey } = term
  const listed = namespaces.length === 0 && !namespaceSelector ? [ownNamespace] : namespaces
  const isSelected = compileLabelSelector(labelSelector)
  const isSelectedNamespace = namespaceSelector ? compileLabelSelector(namespaceSelector) : undefined
  return {
    key: JSON.stringify([listed.toSorted(), namespaceSelector ?? null, labelSelector ?? null, topologyKey]),
    topologyKey,
    namespace: listed.length === 1 && !namespaceSelector ? listed[0] : undefined,
    selects: (labels, namespace, labelsOf) =>
      (listed.includes(namespace) || (isSelectedNamespace?.(labelsOf(namespace)) ?? false)) && isSelected(labels),
  }
}

/** All that a pod says of others. */
export interface PodAffinities {
  readonly affinity: readonly AffinityTerm[]
  readonly antiAffinity: readonly AffinityTerm[]
  readonly preferredAffinity: readonly WeightedTerm[]
  readonly preferredAntiAffinity: readonly WeightedTerm[]
}

const nothing: PodAffinities = { affinity: [], antiAffinity: [], preferredAffinity: [], preferredAntiAffinity: [] }

export function affinitiesOf({ metadata: { namespace = '' }, spec: { affinity } }: Pod): PodAffinities {
  if (!affinity?.podAffinity && !affinity?.podAntiAffinity) return nothing
  const compile = (terms: readonly PodAffinityTerm[] = []) => terms.map((term) => compileTerm(term, namespace))
  const weighted = (terms: readonly WeightedPodAffinityTerm[] = []) =>
    terms.map(({ podAffinityTerm, weight }) => ({ term: compileTerm(podAffinityTerm, namespace), weight }))
  return {
    affinity: compile(affinity.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    antiAffinity: compile(affinity.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferredAffinity: weighted(affinity.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAntiAffinity: weighted(affinity.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  }
}
