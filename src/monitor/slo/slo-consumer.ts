import type { Clock } from '../../base/clock.ts'
import { type Family, type Labels, type MetricsRegistry, labelText } from '../../base/metrics.ts'
import type { Page, SandboxConsumer, SandboxLabels, SandboxObservation, SnapshotSection } from '../observation.ts'
import type { Standing } from './judge.ts'
import { exact } from './prometheus-rules.ts'
import type { SloReport } from './report.ts'
import { SloBook } from './slo-book.ts'
import type { Slo } from './slo-file.ts'

type Sample = [Labels, number]

/** Registers the Prometheus metrics of objectives, which are computed at each scrape. */
function registerSloMetrics(metrics: MetricsRegistry, books: readonly SloBook[]): void {
  const tell = (type: Family['type'], name: string, help: string, samplesOf: (book: SloBook) => Iterable<Sample>) =>
    metrics.family({
      type,
      name,
      help,
      *lines() {
        for (const book of books) {
          for (const [labels, value] of samplesOf(book))
            yield `${name}{${labelText({ slo: book.slo.name, ...labels })}} ${value}`
        }
      },
    })

  tell('gauge', 'coxswain_slo_objective_ratio', 'Share of events that must be good.', ({ slo }) => [
    [{}, exact(slo.objectivePercent / 100)],
  ])
  tell('gauge', 'coxswain_slo_window_seconds', 'Window of the objective.', ({ slo }) => [[{}, slo.windowMs / 1000]])
  tell('gauge', 'coxswain_slo_threshold_seconds', 'Threshold below which an event is good.', ({ slo }) =>
    slo.thresholdMs === undefined ? [] : [[{}, slo.thresholdMs / 1000]],
  )
  tell('counter', 'coxswain_slo_events_total', 'Number of events of an objective, by outcome and group.', eventSamples)
  for (const [part, ofWhat, rowsOf] of [
    ['', 'an objective', wholeRow],
    ['group_', 'a group of an objective', groupRows],
  ] as const) {
    // A scrape reads the three families in order. The first one computes all of them.
    const rows = new Map<SloBook, Row[]>()
    const fresh = (book: SloBook) => rows.set(book, rowsOf(book)).get(book)!
    const told = (book: SloBook) => rows.get(book)!
    tell(
      'gauge',
      `coxswain_slo_${part}compliance_ratio`,
      `The share of good events in the window of ${ofWhat}.`,
      (book) => fresh(book).flatMap(complianceSamples),
    )
    tell(
      'gauge',
      `coxswain_slo_${part}error_budget_remaining_ratio`,
      `Remaining error budget of ${ofWhat}; 1 is all of it.`,
      (book) => told(book).map(([labels, { errorBudgetRemaining }]): Sample => [labels, errorBudgetRemaining]),
    )
    tell(
      'gauge',
      `coxswain_slo_${part}burn_rate`,
      `Burn rate of the error budget of ${ofWhat}; 1 spends it in exactly one window.`,
      (book) => told(book).flatMap(burnSamples),
    )
  }
}

type Row = [Labels, Standing]

const wholeRow = (book: SloBook): Row[] => [[{}, book.standing(book.whole)]]
const groupRows = (book: SloBook): Row[] =>
  book.groups().map(({ labels, tally }): Row => [labels, book.standing(tally)])

const complianceSamples = ([labels, { compliance }]: Row): Sample[] =>
  compliance === null ? [] : [[labels, compliance]]
const burnSamples = ([labels, { burnRates }]: Row): Sample[] =>
  Object.entries(burnRates).map(([window, rate]): Sample => [{ ...labels, window }, rate])

/** By group if there are any: they add up to the whole. */
function eventSamples(book: SloBook): Sample[] {
  const tallies = book.slo.groupBy.length > 0 ? book.groups() : [{ labels: {}, tally: book.whole }]
  return tallies.flatMap(({ labels, tally }): Sample[] => [
    [{ outcome: 'good', ...labels }, tally.good],
    [{ outcome: 'bad', ...labels }, tally.bad],
  ])
}

/** Classifies facts by objectives, and reports them as metrics and at `/slo`. */
export class SloConsumer implements SandboxConsumer {
  readonly #clock: Clock
  readonly #books: readonly SloBook[]

  constructor(slos: readonly Slo[], clock: Clock, metrics: MetricsRegistry) {
    this.#clock = clock
    this.#books = slos.map((slo) => new SloBook(slo, clock))
    registerSloMetrics(metrics, this.#books)
  }

  observe(fact: SandboxObservation): void {
    for (const book of this.#books) book.observe(fact)
  }

  appeared(labels: SandboxLabels): void {
    for (const book of this.#books) book.appeared(labels)
  }

  vanished(labels: SandboxLabels): void {
    for (const book of this.#books) book.vanished(labels)
  }

  report(): SloReport {
    return { at: new Date(this.#clock.now()).toISOString(), slos: this.#books.map((book) => book.status()) }
  }

  readonly section: SnapshotSection = {
    name: 'slos',
    save: () => Object.fromEntries(this.#books.map((book) => [book.slo.name, book.save()])),
    restore: (saved) => {
      for (const book of this.#books) book.restore((saved as Record<string, unknown> | null)?.[book.slo.name])
    },
  }

  readonly pages: Readonly<Record<string, () => Page>> = {
    '/slo': () => ({ type: 'application/json', body: `${JSON.stringify(this.report(), undefined, 2)}\n` }),
  }
}
