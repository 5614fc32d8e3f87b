import { parseLabelRequirements, parseLabelSelector } from '../../api/selectors/parse-label-selector.ts'
import type { SandboxFactKind, SandboxObservation } from '../observation.ts'
import { type Group, metricLabel } from '../groups.ts'
import type { Slo } from './slo-file.ts'

/** What a fact is to an objective. */
export interface Verdict {
  isGood: boolean
  /** Undefined for what never came to be. */
  latencyMs: number | undefined
}

/** What objectives need of the monitor that serves them. */
export interface SloNeeds {
  /** The labels and annotations of pods by which they select and group. */
  podGroups: Group[]
  /** Their thresholds in seconds, as bounds for histograms. */
  bounds: number[]
}

export function sloNeeds(slos: readonly Slo[]): SloNeeds {
  const groups = slos.flatMap(({ groupBy, selector }) => [...groupBy, ...parseLabelRequirements(selector.labels ?? '').map(({ key }) => `label:${key}`)])
  return {
    podGroups: [...new Set(groups.filter((group) => group.includes(':')))],
    bounds: [...new Set(slos.flatMap(({ thresholdMs }) => (thresholdMs === undefined ? [] : [thresholdMs / 1000])))],
  }
}

/** How an objective judges facts; undefined for those that are not its business. Mistakes of users never are. */
export function judgeFor(slo: Slo): (fact: SandboxObservation) => Verdict | undefined {
  const isSelected = selectionOf(slo)
  return (fact) => (fact.isUserError || !isSelected(fact) ? undefined : verdictOf(slo, fact))
}

function verdictOf({ indicator, thresholdMs = Infinity }: Slo, { kind, latencyMs, isLate }: SandboxObservation): Verdict | undefined {
  if (indicator === 'termination-latency') return terminationVerdict(kind, latencyMs, thresholdMs)
  if (kind === 'failed') return { isGood: false, latencyMs: undefined }
  // Who goes before the time is up has said nothing; who goes after it was too slow already.
  if (kind === 'abandoned') return latencyMs! < thresholdMs ? undefined : { isGood: false, latencyMs: undefined }
  // A pod is one event: who was told to have failed is not told again.
  if (kind !== 'created' || isLate || latencyMs === undefined) return undefined
  return { isGood: latencyMs < thresholdMs, latencyMs }
}

function terminationVerdict(kind: SandboxFactKind, latencyMs: number | undefined, thresholdMs: number): Verdict | undefined {
  if (latencyMs === undefined) return undefined
  const isGood = latencyMs < thresholdMs
  if (kind === 'terminated') return { isGood, latencyMs }
  return kind === 'unterminated' && !isGood ? { isGood, latencyMs: undefined } : undefined
}

/** The labels that a selector looks at. */
export type Selectable = Pick<SandboxObservation, 'namespace' | 'labels'>

/** True if a pod is the business of an objective. */
export function selectionOf({ selector }: Slo): (fact: Selectable) => boolean {
  const { namespaces, runtimeClasses, storageClasses, labels } = selector
  const hasLabels = labels === undefined ? undefined : labelSelection(labels)
  return (fact) =>
    (!namespaces || namespaces.includes(fact.namespace)) &&
    (!runtimeClasses || runtimeClasses.includes(fact.labels['runtime_class'] ?? '')) &&
    (!storageClasses || (fact.labels['storage_classes'] ?? '').split(',').some((name) => storageClasses.includes(name))) &&
    (!hasLabels || hasLabels(fact))
}

/** A fact has the pod's labels under the names of metrics, and '' for those that the pod lacks. */
function labelSelection(text: string): (fact: Selectable) => boolean {
  const matches = parseLabelSelector(text)
  const keys = [...new Set(parseLabelRequirements(text).map(({ key }) => key))].map((key) => [key, metricLabel('label', key)] as const)
  return (fact) => matches(Object.fromEntries(keys.map(([key, label]) => [key, fact.labels[label] ?? '']).filter(([, value]) => value !== '')))
}
