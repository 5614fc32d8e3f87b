import type { Clock } from '../../base/clock.ts'
import type { Labels } from '../../base/metrics.ts'
import type { SandboxLabels, SandboxObservation } from '../observation.ts'
import { burnWindows, exact } from './prometheus-rules.ts'
import { GroupTable } from '../group-table.ts'
import { groupLabels } from '../groups.ts'
import { type Selectable, type Standing, type Verdict, judgeFor, selectionOf, standingFor } from './judge.ts'
import { type LatencyCounts, type SavedTally, Tally, latencyBounds, latencyQuantile } from './tally.ts'
import type { LatencyReport, SloStatus } from './report.ts'
import { type Slo, sentenceOf } from './slo-file.ts'
import { printWindow } from './sliding-sums.ts'

const historyParts = 40

export interface GroupTally {
  readonly labels: Labels
  readonly tally: Tally
}

interface SavedBook {
  /** The definition that the counts are based on. Counts of another definition are discarded. */
  meaning: string
  whole: SavedTally
  groups: { values: string[]; tally: SavedTally }[]
}

/** The counts of one objective, in memory that does not depend on the number of events. */
export class SloBook {
  readonly slo: Slo
  readonly whole: Tally
  readonly #clock: Clock
  readonly #judge: (fact: SandboxObservation) => Verdict | undefined
  readonly #isSelected: (fact: Selectable) => boolean
  readonly #standing: ReturnType<typeof standingFor>
  readonly #labelNames: readonly string[]
  readonly #bounds: readonly number[]
  readonly #groups: GroupTable<GroupTally>

  constructor(slo: Slo, clock: Clock) {
    this.slo = slo
    this.#clock = clock
    this.whole = new Tally(slo, { withLatencies: true })
    this.#judge = judgeFor(slo)
    this.#isSelected = selectionOf(slo)
    this.#groups = new GroupTable({
      maxGroups: slo.maxGroups,
      nowMs: () => clock.now(),
      make: (values) => ({ labels: this.#labelsOf(values), tally: new Tally(slo, { withLatencies: false }) }),
      fold: ({ tally }, into) => into.tally.takeWindows(tally, clock.now()),
    })
    this.#standing = standingFor(slo)
    this.#labelNames = groupLabels(slo.groupBy)
    this.#bounds = latencyBounds(slo)
  }

  observe(fact: SandboxObservation): void {
    const verdict = this.#judge(fact)
    if (!verdict) return
    const nowMs = this.#clock.now()
    this.whole.add(verdict, fact.atMs, nowMs)
    if (this.#labelNames.length > 0) {
      this.#groups.of(this.#valuesOf(fact.labels)).entry.item.tally.add(verdict, fact.atMs, nowMs)
    }
  }

  appeared(labels: SandboxLabels): void {
    if (this.#labelNames.length > 0 && this.#isSelected({ namespace: labels['namespace'] ?? '', labels })) {
      this.#groups.appeared(this.#valuesOf(labels))
    }
  }

  vanished(labels: SandboxLabels): void {
    if (this.#labelNames.length > 0 && this.#isSelected({ namespace: labels['namespace'] ?? '', labels })) {
      this.#groups.vanished(this.#valuesOf(labels))
    }
  }

  /** Groups with pods, or with events in the objective's window. Others are removed. */
  groups(): GroupTally[] {
    const nowMs = this.#clock.now()
    this.#groups.expire(({ item: { tally } }) => {
      const { good, bad } = tally.counts(this.slo.windowMs, nowMs)
      return good + bad === 0
    })
    return [...this.#groups.values()].map(({ item }) => item)
  }

  standing(tally: Tally): Standing {
    const nowMs = this.#clock.now()
    return this.#standing((windowMs) => tally.counts(windowMs, nowMs))
  }

  status(): SloStatus {
    const { name, description, indicator, objectivePercent, thresholdMs, windowMs, selector, groupBy } = this.slo
    return {
      name,
      objectiveText: sentenceOf(this.slo),
      ...(description === undefined ? {} : { description }),
      indicator,
      objective: exact(objectivePercent / 100),
      ...(thresholdMs === undefined ? {} : { thresholdSeconds: thresholdMs / 1000 }),
      window: printWindow(windowMs),
      selector,
      groupBy,
      ...this.standing(this.whole),
      groups: this.groups()
        .map(({ labels, tally }) => ({ labels, ...this.standing(tally) }))
        .filter(({ events }) => events > 0),
      latencies: Object.fromEntries(burnWindows(this.slo).map((ms) => [printWindow(ms), this.#latencies(ms)])),
    }
  }

  save(): SavedBook {
    const groups = this.groups().map(({ labels, tally }) => ({
      values: this.#labelNames.map((name) => labels[name]!),
      tally: tally.save(),
    }))
    return { meaning: this.#meaning(), whole: this.whole.save(), groups }
  }

  /** Restores data of `save`, unless the objective of this name has changed. */
  restore(saved: unknown): void {
    const { meaning, whole, groups } = (saved ?? {}) as Partial<SavedBook>
    if (meaning !== this.#meaning()) return
    this.whole.restore(whole)
    for (const { values, tally } of groups ?? []) this.#groups.restore(values).item.tally.restore(tally)
  }

  #meaning(): string {
    const { indicator, thresholdMs, selector, groupBy } = this.slo
    return JSON.stringify([indicator, thresholdMs, selector, groupBy])
  }

  #valuesOf(labels: SandboxLabels): string[] {
    return this.#labelNames.map((name) => labels[name] ?? '')
  }

  #labelsOf(values: readonly string[]): Labels {
    return Object.fromEntries(this.#labelNames.map((name, i) => [name, values[i] ?? '']))
  }

  #latencies(windowMs: number): LatencyReport {
    const nowMs = this.#clock.now()
    const counts = this.whole.latencies(windowMs, nowMs)
    const bounds = this.#bounds.map((ms) => ms / 1000)
    const quantile = ({ good, bad, latencies }: LatencyCounts, share: number) =>
      latencyQuantile(bounds, latencies, good + bad, share) ?? null
    const events = counts.good + counts.bad
    return {
      events,
      never: events - counts.latencies.reduce((sum, count) => sum + count, 0),
      buckets: counts.latencies.flatMap((count, i) =>
        count === 0 ? [] : [{ lessThanSeconds: bounds[i] ?? null, count }],
      ),
      p50: quantile(counts, 0.5),
      p90: quantile(counts, 0.9),
      p99: quantile(counts, 0.99),
      history: this.whole
        .history(windowMs, nowMs, historyParts)
        .map((piece) => ({ events: piece.good + piece.bad, bad: piece.bad, p90: quantile(piece, 0.9) })),
    }
  }
}
