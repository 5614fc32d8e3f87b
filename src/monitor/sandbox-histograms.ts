import { type Counts, type Family, type MetricsRegistry, countValue, histogramLines, labelText, noCounts } from '../base/metrics.ts'
import { type Group, groupLabels, otherValue } from './groups.ts'
import type { SandboxConsumer, SandboxObservation, SnapshotSection } from './observation.ts'

export interface HistogramOptions {
  groupBy: readonly Group[]
  /** Upper bounds in seconds, rising. */
  bounds: readonly number[]
  /** What is of yet another group counts as of one that stands for all others. */
  maxGroups: number
}

/** What is counted of the pods whose labels are the same. */
interface Sums {
  creations: Counts
  recreations: Counts
  terminations: Counts
  /** Those included of which it is not known how long they took. */
  recreated: number
  failures: number
  userErrors: number
}

/** Counts facts by groups of pods. User errors are counted apart, and in nothing else. */
export class SandboxHistograms implements SandboxConsumer {
  readonly #options: HistogramOptions
  readonly #names: readonly string[]
  /** By their labels, as metrics have them. */
  readonly #groups = new Map<string, Sums>()
  readonly #crowded

  constructor(options: HistogramOptions, metrics: MetricsRegistry) {
    this.#options = options
    this.#names = groupLabels(options.groupBy)
    this.#crowded = metrics.counter('coxswain_monitor_ungrouped_observations_total', 'Observations that count as of group _other, as there are too many groups.').with()
    this.#register(metrics)
  }

  observe(fact: SandboxObservation): void {
    const sums = this.#sumsOf(this.#names.map((name) => fact.labels[name] ?? ''))
    if (fact.isUserError) sums.userErrors++
    else count(sums, this.#options.bounds, fact)
  }

  readonly section: SnapshotSection = {
    name: 'histograms',
    save: () => ({ meaning: this.#meaning(), groups: [...this.#groups] }),
    restore: (saved) => {
      const { meaning, groups = [] } = (saved ?? {}) as { meaning?: string; groups?: [string, Sums][] }
      // Counts under other bounds or labels cannot be gone on with.
      if (meaning === this.#meaning()) for (const [labels, sums] of groups) this.#groups.set(labels, sums)
    },
  }

  #meaning(): string {
    return JSON.stringify([this.#names, this.#options.bounds])
  }

  #sumsOf(values: readonly string[]): Sums {
    const key = labelText(Object.fromEntries(this.#names.map((name, i) => [name, values[i]!])))
    const found = this.#groups.get(key)
    if (found) return found
    const isOther = values.every((value) => value === otherValue)
    if (!isOther && this.#groups.size >= this.#options.maxGroups) {
      this.#crowded.inc()
      return this.#sumsOf(values.map(() => otherValue))
    }
    const { bounds } = this.#options
    const made: Sums = { creations: noCounts(bounds), recreations: noCounts(bounds), terminations: noCounts(bounds), recreated: 0, failures: 0, userErrors: 0 }
    this.#groups.set(key, made)
    return made
  }

  #register(metrics: MetricsRegistry): void {
    const groups = this.#groups
    const { bounds } = this.#options
    const add = (type: Family['type'], name: string, help: string, linesOf: (labels: string, sums: Sums) => Iterable<string>) =>
      metrics.family({
        type,
        name,
        help,
        *lines() {
          for (const [labels, sums] of groups) yield* linesOf(labels, sums)
        },
      })
    const histogram = (name: string, help: string, of: (sums: Sums) => Counts) =>
      add('histogram', name, help, (labels, sums) => (of(sums).count > 0 ? histogramLines(name, labels, bounds, of(sums)) : []))
    const counter = (name: string, help: string, of: (sums: Sums) => number) =>
      add('counter', name, help, (labels, sums) => [`${name}${labels === '' ? '' : `{${labels}}`} ${of(sums)}`])
    histogram('coxswain_pod_sandbox_creation_duration_seconds', 'How long after they were scheduled pods were ready to start containers, for the first time.', (s) => s.creations)
    counter('coxswain_pod_sandbox_creation_failures_total', 'Pods that were not ready to start containers within the configured time.', (s) => s.failures)
    counter('coxswain_pod_sandbox_recreations_total', 'Sandboxes of pods that were made anew after they were lost.', (s) => s.recreated)
    histogram('coxswain_pod_sandbox_recreation_duration_seconds', 'How long after their sandbox was lost pods were ready to start containers again.', (s) => s.recreations)
    histogram('coxswain_pod_sandbox_termination_duration_seconds', 'How long after their deletion pods had no sandbox any more.', (s) => s.terminations)
    counter('coxswain_pod_sandbox_user_errors_total', 'What happened to pods for want of a config map or secret, and is counted nowhere else.', (s) => s.userErrors)
  }
}

function count(sums: Sums, bounds: readonly number[], { kind, latencyMs }: SandboxObservation): void {
  if (kind === 'failed') sums.failures++
  if (kind === 'recreated') sums.recreated++
  const into = kind === 'created' ? sums.creations : kind === 'recreated' ? sums.recreations : kind === 'terminated' ? sums.terminations : undefined
  if (into && latencyMs !== undefined) countValue(into, bounds, latencyMs / 1000)
}
