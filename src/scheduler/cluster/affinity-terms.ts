import type { Pod, PodAffinityTerm, WeightedPodAffinityTerm } from '../../api/generated/types.ts'
import { type Labels, compileLabelSelector } from '../../api/selectors/label-selector.ts'

/** The labels of a namespace, for terms with a namespace selector. */
type NamespaceLabels = (namespace: string) => Labels

/** An affinity term of a pod, prepared once per pod. */
export interface AffinityTerm {
  /** Equal for equivalent terms. */
  readonly key: string
  readonly topologyKey: string
  /** The only namespace that it selects. Undefined for several. */
  readonly namespace: string | undefined
  selects(labels: Labels, namespace: string, labelsOf: NamespaceLabels): boolean
}

export interface WeightedTerm {
  term: AffinityTerm
  weight: number
}

/** Creates the matcher of a term of a pod in this namespace. */
function compileTerm(term: PodAffinityTerm, ownNamespace: string): AffinityTerm {
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

/** All affinity terms of a pod. */
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
