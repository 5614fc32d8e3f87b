import {
  type Counts,
  type Family,
  type MetricsRegistry,
  countValue,
  histogramLines,
  labelText,
  noCounts,
} from '../base/metrics.ts'
import { GroupTable } from './group-table.ts'
import { type Group, groupLabels } from './groups.ts'
import type {
  SandboxConsumer,
  SandboxFactKind,
  SandboxLabels,
  SandboxObservation,
  SnapshotSection,
} from './observation.ts'

export interface HistogramOptions {
  groupBy: readonly Group[]
  /** Upper bounds in seconds, ascending. */
  bounds: readonly number[]
  /** Further groups share one entry. */
  maxGroups: number
  nowMs(): number
}

/** The counts of pods with equal labels. */
interface Sums {
  creations: Counts
  abandoned: Counts
  recreations: Counts
  terminations: Counts
  /** Including those with an unknown duration. */
  recreated: number
  failures: number
  userErrors: number
}

/** The time after which a group without pods is removed. Prometheus has scraped its last counts by then. */
const forgetMs = 3_600_000

/** Counts facts by group of pods. A user error is counted once, as that only. */
export class SandboxHistograms implements SandboxConsumer {
  readonly #options: HistogramOptions
  readonly #names: readonly string[]
  readonly #groups: GroupTable<{ labels: string; sums: Sums }>
  readonly #crowded

  constructor(options: HistogramOptions, metrics: MetricsRegistry) {
    const { maxGroups, nowMs } = options
    this.#options = options
    this.#names = groupLabels(options.groupBy)
    this.#groups = new GroupTable({
      maxGroups,
      nowMs,
      make: (values) => ({ labels: this.#labelsOf(values), sums: this.#noSums() }),
    })
    this.#crowded = metrics
      .counter(
        'coxswain_monitor_ungrouped_observations_total',
        'Observations counted in the group _other because the limit of groups is reached.',
      )
      .with()
    this.#register(metrics)
  }

  observe(fact: SandboxObservation): void {
    const { entry, isOther } = this.#groups.of(this.#valuesOf(fact.labels))
    if (isOther) this.#crowded.inc()
    if (!fact.isUserError) count(entry.item.sums, this.#options.bounds, fact)
    else if (!fact.isLate) entry.item.sums.userErrors++
  }

  appeared(labels: SandboxLabels): void {
    this.#groups.appeared(this.#valuesOf(labels))
  }

  vanished(labels: SandboxLabels): void {
    this.#groups.vanished(this.#valuesOf(labels))
  }

  readonly section: SnapshotSection = {
    name: 'histograms',
    save: () => ({
      meaning: this.#meaning(),
      groups: [...this.#groups.values()].map(({ values, item }) => [values, item.sums]),
    }),
    restore: (saved) => {
      const { meaning, groups = [] } = (saved ?? {}) as { meaning?: string; groups?: [string[], Sums][] }
      // Counts with other bounds or labels cannot be continued.
      if (meaning !== this.#meaning()) return
      for (const [values, sums] of groups) Object.assign(this.#groups.restore(values).item.sums, sums)
    },
  }

  #meaning(): string {
    return JSON.stringify(['by values', this.#names, this.#options.bounds])
  }

  #valuesOf(labels: SandboxLabels): string[] {
    return this.#names.map((name) => labels[name] ?? '')
  }

  #labelsOf(values: readonly string[]): string {
    return labelText(Object.fromEntries(this.#names.map((name, i) => [name, values[i]!])))
  }

  #noSums(): Sums {
    const { bounds } = this.#options
    return {
      creations: noCounts(bounds),
      abandoned: noCounts(bounds),
      recreations: noCounts(bounds),
      terminations: noCounts(bounds),
      recreated: 0,
      failures: 0,
      userErrors: 0,
    }
  }

  #register(metrics: MetricsRegistry): void {
    const groups = this.#groups
    const { bounds, nowMs } = this.#options
    const add = (
      type: Family['type'],
      name: string,
      help: string,
      linesOf: (labels: string, sums: Sums) => Iterable<string>,
    ) =>
      metrics.family({
        type,
        name,
        help,
        *lines() {
          groups.expire(({ lastMs }) => lastMs < nowMs() - forgetMs)
          for (const { item } of groups.values()) yield* linesOf(item.labels, item.sums)
        },
      })
    // All series of a group start at zero with its first pod, so that rates include the first events.
    const histogram = (name: string, help: string, of: (sums: Sums) => Counts, { isBornAtZero = false } = {}) =>
      add('histogram', name, help, (labels, sums) =>
        isBornAtZero || of(sums).count > 0 ? histogramLines(name, labels, bounds, of(sums)) : [],
      )
    const counter = (name: string, help: string, of: (sums: Sums) => number) =>
      add('counter', name, help, (labels, sums) => [`${name}${labels === '' ? '' : `{${labels}}`} ${of(sums)}`])
    histogram(
      'coxswain_pod_sandbox_creation_duration_seconds',
      'Time from scheduling until pods were first ready to start containers.',
      (s) => s.creations,
      { isBornAtZero: true },
    )
    counter(
      'coxswain_pod_sandbox_creation_failures_total',
      'Pods that were not ready to start containers within the configured time.',
      (s) => s.failures,
    )
    counter(
      'coxswain_pod_sandbox_creations_abandoned_total',
      'Pods that were deleted, evicted or terminated before they were ready to start containers.',
      (s) => s.abandoned.count,
    )
    histogram(
      'coxswain_pod_sandbox_abandoned_duration_seconds',
      'Time from scheduling until the end of pods that were never ready to start containers.',
      (s) => s.abandoned,
    )
    counter(
      'coxswain_pod_sandbox_recreations_total',
      'Pod sandboxes that were re-created after they were lost.',
      (s) => s.recreated,
    )
    histogram(
      'coxswain_pod_sandbox_recreation_duration_seconds',
      'Time from the loss of a sandbox until its pod was ready to start containers again.',
      (s) => s.recreations,
    )
    histogram(
      'coxswain_pod_sandbox_termination_duration_seconds',
      'Time from the deletion of pods until their sandbox was removed.',
      (s) => s.terminations,
      { isBornAtZero: true },
    )
    counter(
      'coxswain_pod_sandbox_user_errors_total',
      'Pods that waited for a missing object which they reference. They are counted in no other series.',
      (s) => s.userErrors,
    )
  }
}

function count(sums: Sums, bounds: readonly number[], { kind, latencyMs }: SandboxObservation): void {
  if (kind === 'failed') sums.failures++
  if (kind === 'recreated') sums.recreated++
  const into = intoWhich[kind]
  if (into && latencyMs !== undefined) countValue(sums[into], bounds, latencyMs / 1000)
}

const intoWhich: Readonly<
  Record<SandboxFactKind, 'creations' | 'abandoned' | 'recreations' | 'terminations' | undefined>
> = {
  created: 'creations',
  abandoned: 'abandoned',
  recreated: 'recreations',
  terminated: 'terminations',
  failed: undefined,
  unterminated: undefined,
}
