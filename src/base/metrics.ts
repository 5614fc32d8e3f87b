import type { Turns } from './turns.ts'

/** Label names and values that identify one series of a metric. */
export type Labels = Readonly<Record<string, string>>

/** All series of one metric name. */
export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  lines(): Iterable<string>
}

const escapeValue = (text: string) => (/["\\\n]/.test(text) ? escaped(text) : text)

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** Formats labels as `a="1",b="2"`, the text between the braces of a series. */
export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([k, v]) => `${k}="${escapeValue(v)}"`)
    .join(',')

const braced = (text: string) => (text === '' ? '' : `{${text}}`)

/**
 * The counts of a histogram: the values in each bucket (above the previous bound, up to its own), their number and
 * their sum.
 */
export interface Counts {
  counts: number[]
  sum: number
  count: number
}

export const noCounts = (bounds: readonly number[]): Counts => ({ counts: bounds.map(() => 0), sum: 0, count: 0 })

/** Adds a value. `bounds` are ascending upper bounds. */
export function countValue(into: Counts, bounds: readonly number[], value: number): void {
  into.sum += value
  into.count++
  for (let i = 0; i < bounds.length; i++) {
    if (value <= bounds[i]!) {
      into.counts[i]!++
      break
    }
  }
}

/** Generates the lines of one series of a histogram; `labels` is the result of `labelText`. */
export function* histogramLines(
  name: string,
  labels: string,
  bounds: readonly number[],
  { counts, sum, count }: Counts,
): Iterable<string> {
  const lead = labels === '' ? '' : `${labels},`
  // Copies the counts: values may be added while lines are generated in a later turn.
  const copy = [...counts]
  let seen = 0
  for (const [i, bound] of bounds.entries()) yield `${name}_bucket{${lead}le="${bound}"} ${(seen += copy[i]!)}`
  yield `${name}_bucket{${lead}le="+Inf"} ${count}`
  yield `${name}_sum${braced(labels)} ${sum}`
  yield `${name}_count${braced(labels)} ${count}`
}

/** One series of a counter or gauge. Keep a reference to it on hot paths: the lookup costs more than the count. */
export interface Series {
  inc(by?: number): void
  set(value: number): void
}

class Values implements Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly #series = new Map<string, { value: number }>()
  readonly #collect: ((family: Values) => void) | undefined

  constructor(type: 'counter' | 'gauge', name: string, help: string, collect?: (family: Values) => void) {
    this.type = type
    this.name = name
    this.help = help
    this.#collect = collect
  }

  with(labels: Labels = {}): Series {
    const key = labelText(labels)
    let cell = this.#series.get(key)
    if (!cell) this.#series.set(key, (cell = { value: 0 }))
    const held = cell
    return {
      inc: (by = 1) => {
        held.value += by
      },
      set: (value) => {
        held.value = value
      },
    }
  }

  /** Removes one series, for example when the measured object is gone. */
  remove(labels: Labels): void {
    this.#series.delete(labelText(labels))
  }

  /** Removes all series, before they are collected again. */
  clear(): void {
    this.#series.clear()
  }

  *lines(): Iterable<string> {
    this.#collect?.(this)
    for (const [key, { value }] of this.#series) yield `${this.name}${braced(key)} ${value}`
  }
}

/** One series of a histogram. */
export interface Observer {
  observe(value: number): void
}

class Histogram implements Family {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  /** Ascending upper bounds. */
  readonly #bounds: readonly number[]
  readonly #series = new Map<string, Counts>()

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name
    this.help = help
    this.#bounds = bounds
  }

  with(labels: Labels = {}): Observer {
    const key = labelText(labels)
    let cell = this.#series.get(key)
    if (!cell) this.#series.set(key, (cell = noCounts(this.#bounds)))
    const held = cell
    return { observe: (value) => countValue(held, this.#bounds, value) }
  }

  *lines(): Iterable<string> {
    for (const [key, counts] of this.#series) yield* histogramLines(this.name, key, this.#bounds, counts)
  }
}

export type Gauge = Values
export type Counter = Values
export type { Histogram }

const linesOfPiece = 500

const relabelled = (family: Family, labels: string): Family => ({
  name: family.name,
  help: family.help,
  type: family.type,
  *lines() {
    for (const line of family.lines()) yield withLabels(line, labels)
  },
})

/** Adds labels, as returned by `labelText`, to a line of a metric. */
function withLabels(line: string, labels: string): string {
  const at = line.search(/[{ ]/)
  return line[at] === '{'
    ? `${line.slice(0, at)}{${labels},${line.slice(at + 1)}`
    : `${line.slice(0, at)}{${labels}}${line.slice(at)}`
}

/** A set of metrics, served in the text format of Prometheus. */
export class MetricsRegistry {
  readonly #families = new Map<string, Family>()
  #outer: { registry: MetricsRegistry; labels: string } | undefined

  /** Returns a registry whose metrics are served by this one with additional labels. */
  labelled(labels: Labels): MetricsRegistry {
    const inner = new MetricsRegistry()
    inner.#outer = { registry: this, labels: labelText(labels) }
    return inner
  }

  /** Adds a counter. `collect` is called before each scrape, for values that are cheaper to read than to update. */
  counter(name: string, help: string, collect?: (counter: Counter) => void): Counter {
    return this.#add(new Values('counter', name, help, collect))
  }

  gauge(name: string, help: string, collect?: (gauge: Gauge) => void): Gauge {
    return this.#add(new Values('gauge', name, help, collect))
  }

  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    return this.#add(new Histogram(name, help, bounds))
  }

  /** Adds a family whose lines are generated at each scrape. */
  family(family: Family): void {
    this.#add(family)
  }

  text(): string {
    return [...this.pieces()].join('')
  }

  /** Generates the text in pieces, so that the text of very many series is never in memory as a whole. */
  *pieces(): Iterable<string> {
    let lines: string[] = []
    for (const family of this.#families.values()) {
      lines.push(`# HELP ${family.name} ${family.help}`, `# TYPE ${family.name} ${family.type}`)
      for (const line of family.lines()) {
        lines.push(line)
        if (lines.length < linesOfPiece) continue
        yield `${lines.join('\n')}\n`
        lines = []
      }
    }
    yield lines.length > 0 ? `${lines.join('\n')}\n` : ''
  }

  /** Generates the text as bytes in slices: the series of very many pods would block the event loop. */
  async *bytes(turns: Turns): AsyncGenerator<Buffer> {
    for (const piece of this.pieces()) {
      yield Buffer.from(piece)
      if (turns.isSpent) await turns.next()
    }
  }

  #add<F extends Family>(family: F): F {
    if (this.#families.has(family.name)) throw new Error(`metric ${family.name} is registered twice`)
    this.#families.set(family.name, family)
    if (this.#outer) this.#outer.registry.family(relabelled(family, this.#outer.labels))
    return family
  }
}
