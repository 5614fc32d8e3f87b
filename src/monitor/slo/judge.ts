import { parseLabelRequirements, parseLabelSelector } from '../../api/selectors/parse-label-selector.ts'
import { type Group, metricLabel } from '../groups.ts'
import type { SandboxFactKind, SandboxObservation } from '../observation.ts'
import { type BurnAlert, type Severity, burnAlerts, burnWindows, errorBudget, exact } from './prometheus-rules.ts'
import { printWindow } from './sliding-sums.ts'
import type { Slo } from './slo-file.ts'

/** The state of an objective, or of one of its groups. */
export interface Standing {
  /** In the window of the objective. */
  events: number
  bad: number
  /** The percentage of good events. Null without events. */
  compliance: number | null
  /** 1 if nothing is spent. Negative if the objective is missed. */
  errorBudgetRemaining: number
  /** By window: 1 spends the budget in exactly the window of the objective. 0 without events. */
  burnRates: Record<string, number>
  /** The firing alerts. */
  alert: Severity | null
}

/** Computes the state of an objective or a group from its counts, which are read by window. */
export function standingFor(slo: Slo): (countsIn: (windowMs: number) => { good: number; bad: number }) => Standing {
  const budget = errorBudget(slo)
  const windows = burnWindows(slo).map((ms) => [ms, printWindow(ms)] as const)
  // Pages come first in the list.
  const alerts = burnAlerts(slo)
  return (countsIn) => {
    const ratios = new Map<number, number>()
    const burnRates: Record<string, number> = {}
    for (const [windowMs, name] of windows) {
      const { good, bad } = countsIn(windowMs)
      const ratio = bad === 0 ? 0 : bad / (good + bad)
      ratios.set(windowMs, ratio)
      burnRates[name] = exact(ratio / budget)
    }
    const { good, bad } = countsIn(slo.windowMs)
    const isBurning = ({ longMs, shortMs, factor }: BurnAlert) =>
      Math.min(ratios.get(longMs)!, ratios.get(shortMs)!) > factor * budget
    return {
      events: good + bad,
      bad,
      compliance: good + bad === 0 ? null : exact(good / (good + bad)),
      errorBudgetRemaining: exact(1 - ratios.get(slo.windowMs)! / budget),
      burnRates,
      alert: alerts.find(isBurning)?.severity ?? null,
    }
  }
}

/** The classification of a fact by an objective. */
export interface Verdict {
  isGood: boolean
  /** Undefined for a pod that was never ready. */
  latencyMs: number | undefined
}

/** The requirements of objectives on the monitor. */
export interface SloNeeds {
  /** The labels and annotations of pods that they select and group by. */
  podGroups: Group[]
  /** Their thresholds in seconds, as bounds of histograms. */
  bounds: number[]
}

export function sloNeeds(slos: readonly Slo[]): SloNeeds {
  const groups = slos.flatMap(({ groupBy, selector }) => [
    ...groupBy,
    ...parseLabelRequirements(selector.labels ?? '').map(({ key }) => `label:${key}`),
  ])
  return {
    podGroups: [...new Set(groups.filter((group) => group.includes(':')))],
    bounds: [...new Set(slos.flatMap(({ thresholdMs }) => (thresholdMs === undefined ? [] : [thresholdMs / 1000])))],
  }
}

/** Classifies a fact for an objective. Undefined if it is not relevant. User errors never are. */
export function judgeFor(slo: Slo): (fact: SandboxObservation) => Verdict | undefined {
  const isSelected = selectionOf(slo)
  return (fact) => (fact.isUserError || !isSelected(fact) ? undefined : verdictOf(slo, fact))
}

function verdictOf(
  { indicator, thresholdMs = Infinity }: Slo,
  { kind, latencyMs, isLate }: SandboxObservation,
): Verdict | undefined {
  if (indicator === 'termination-latency') return terminationVerdict(kind, latencyMs, thresholdMs)
  if (kind === 'failed') return { isGood: false, latencyMs: undefined }
  // A pod that is deleted in time is no event. One that is deleted later was too slow already.
  if (kind === 'abandoned') return latencyMs! < thresholdMs ? undefined : { isGood: false, latencyMs: undefined }
  // A pod is one event: one that was reported as failed is not counted again.
  if (kind !== 'created' || isLate || latencyMs === undefined) return undefined
  return { isGood: latencyMs < thresholdMs, latencyMs }
}

function terminationVerdict(
  kind: SandboxFactKind,
  latencyMs: number | undefined,
  thresholdMs: number,
): Verdict | undefined {
  if (latencyMs === undefined) return undefined
  const isGood = latencyMs < thresholdMs
  if (kind === 'terminated') return { isGood, latencyMs }
  return kind === 'unterminated' && !isGood ? { isGood, latencyMs: undefined } : undefined
}

/** The labels that a selector reads. */
export type Selectable = Pick<SandboxObservation, 'namespace' | 'labels'>

/** True if an objective covers a pod. */
export function selectionOf({ selector }: Slo): (fact: Selectable) => boolean {
  const { namespaces, runtimeClasses, storageClasses, labels } = selector
  const hasLabels = labels === undefined ? undefined : labelSelection(labels)
  return (fact) =>
    (!namespaces || namespaces.includes(fact.namespace)) &&
    (!runtimeClasses || runtimeClasses.includes(fact.labels['runtime_class'] ?? '')) &&
    (!storageClasses ||
      (fact.labels['storage_classes'] ?? '').split(',').some((name) => storageClasses.includes(name))) &&
    (!hasLabels || hasLabels(fact))
}

/** A fact has the pod's labels under their metric names, and '' for missing ones. */
function labelSelection(text: string): (fact: Selectable) => boolean {
  const matches = parseLabelSelector(text)
  const keys = [...new Set(parseLabelRequirements(text).map(({ key }) => key))].map(
    (key) => [key, metricLabel('label', key)] as const,
  )
  return (fact) =>
    matches(
      Object.fromEntries(
        keys.map(([key, label]) => [key, fact.labels[label] ?? '']).filter(([, value]) => value !== ''),
      ),
    )
}
