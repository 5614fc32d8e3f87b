import type { Clock } from '../../base/clock.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Page, SandboxConsumer, SandboxLabels, SandboxObservation, SnapshotSection } from '../observation.ts'
import type { SloReport } from './report.ts'
import { SloBook } from './slo-book.ts'
import type { Slo } from './slo-file.ts'
import { registerSloMetrics } from './slo-metrics.ts'

/** Judges facts by objectives; tells of it as metrics and at `/slo`. */
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
