import { rounded } from '../load/measure.ts'
import type { Measured } from './meter.ts'
import { type Load, type PhaseName, podsOf } from './phases.ts'

/** One JSON line. */
export interface Figure {
  figure: string
  value: number
  unit: string
  detail: Record<string, unknown>
}

interface Metric {
  name: string
  unit: string
  /** Memory counts for all pods of the load, all else for those that the phase changes. Undefined: not known. */
  read(measured: Measured, loadPods: number): number | undefined
  /** The value that is compared between sizes. Times are compared per pod. */
  compared?(value: number, pods: number): number
  /** The column of the table: its title and the digits behind the point. */
  column: [string, number]
}

const perPod = (amount: number | undefined, pods: number, factor: number) =>
  amount === undefined || pods === 0 ? undefined : (amount * factor) / pods

/** All figures of a phase. */
const metrics: readonly Metric[] = [
  { name: 'time', unit: 's', read: (m) => m.seconds, compared: (value, pods) => value / pods, column: ['s', 2] },
  { name: 'CPU per pod', unit: 'ms', read: (m) => perPod(m.cpuSeconds, m.pods, 1000), column: ['CPU ms/pod', 2] },
  { name: 'memory per pod', unit: 'KB', read: (m, pods) => perPod(m.grownMb, pods, 1024), column: ['KB/pod', 1] },
  { name: 'livez p50', unit: 'ms', read: (m) => m.probe?.livez?.p50, column: ['livez p50', 1] },
  { name: 'livez p99', unit: 'ms', read: (m) => m.probe?.livez?.p99, column: ['p99', 0] },
  { name: 'livez max', unit: 'ms', read: (m) => m.probe?.livez?.max, column: ['max', 0] },
  { name: 'list p99', unit: 'ms', read: (m) => m.probe?.list?.p99, column: ['list p99', 0] },
  { name: 'get p99', unit: 'ms', read: (m) => m.probe?.get?.p99, column: ['get p99', 0] },
  { name: 'watch lag p99', unit: 'ms', read: (m) => m.probe?.watch?.p99, column: ['watch p99', 0] },
]

interface Taken {
  load: Load
  phase: PhaseName
  measured: Measured
}

/** Keeps what was measured, compares it with the smallest load of its series, and tells it. */
export class Report {
  readonly #taken: Taken[] = []
  readonly #notes: string[] = []

  /** The figures of a phase, each with its ratio to the smallest load of the series that was measured before. */
  add(load: Load, phase: PhaseName, measured: Measured): Figure[] {
    const smallest = this.#smallest(load, phase) ?? { load, phase, measured }
    this.#taken.push({ load, phase, measured })
    const where = { series: load.series, phase, pods: podsOf(load), nodes: load.nodes }
    const title = `${load.title}: ${phase}`
    const { stopped, othersCores, probe, rssMb, eventLoop, detail, seconds, cpuSeconds } = measured
    const spent = {
      othersCores,
      ...(rssMb === undefined ? {} : { rssMb: rounded(rssMb) }),
      ...(cpuSeconds === undefined ? {} : { cpuSeconds: rounded(cpuSeconds) }),
      ...detail,
    }
    if (stopped !== undefined) {
      this.note(`${title}: stopped: ${stopped}`)
      const why = { ...where, why: stopped, ...spent, probe }
      return [{ figure: `${title}: stopped`, value: rounded(seconds), unit: 's', detail: why }]
    }
    const figures: Figure[] = []
    for (const { name, unit, read, compared = (v: number) => v } of metrics) {
      const value = read(measured, podsOf(load))
      if (value === undefined) continue
      const before = read(smallest.measured, podsOf(smallest.load))
      const ratio = before ? compared(value, measured.pods) / compared(before, smallest.measured.pods) : undefined
      const compare = ratio === undefined ? {} : { ratio: rounded(ratio), smallest: podsOf(smallest.load) }
      const more = name === 'time' ? { ...spent, ...eventLoop, probe } : {}
      const all = { ...where, changedPods: measured.pods, ...compare, ...more }
      figures.push({ figure: `${title}: ${name}`, value: rounded(value), unit, detail: all })
    }
    return figures
  }

  /** A sentence below the table: what was not measured, and why. */
  note(text: string): void {
    this.#notes.push(text)
  }

  /** True if all that was wanted has been measured. */
  get isComplete(): boolean {
    return this.#notes.length === 0
  }

  /** A line a phase, and the notes. The second column of times is the ratio of time per pod. */
  table(): string {
    const head = ['load', 'phase', 'changed', 's', '× per pod', ...metrics.slice(1).map(({ column }) => column[0])]
    const rows = this.#taken.map(({ load, phase, measured }) => {
      const smallest = this.#smallest(load, phase)
      const byPod = ({ seconds, pods }: Measured) => seconds / pods
      const isDone = measured.stopped === undefined
      const ratio = smallest && isDone ? (byPod(measured) / byPod(smallest.measured)).toFixed(2) : '-'
      const cells = metrics.slice(1).map(({ read, column }) => read(measured, podsOf(load))?.toFixed(column[1]) ?? '-')
      const time = isDone ? measured.seconds.toFixed(2) : `>${measured.seconds.toFixed(0)}`
      return [load.title, phase, String(measured.pods), time, ratio, ...cells]
    })
    const widths = head.map((text, column) => Math.max(text.length, ...rows.map((row) => row[column]!.length)))
    const line = (cells: readonly string[]) =>
      cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ').trimEnd()
    return [line(head), ...rows.map(line), ...this.#notes].join('\n')
  }

  /** The first one measured to the end is the smallest: loads of a series run in the order of their size. */
  #smallest(load: Load, phase: PhaseName): Taken | undefined {
    const isLike = (t: Taken) => t.load.series === load.series && t.phase === phase
    return this.#taken.find((t) => isLike(t) && t.measured.stopped === undefined)
  }
}
