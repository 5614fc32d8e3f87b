import type { Turns } from './turns.ts'

/** Names and values that tell one series of a metric from another. */
export type Labels = Readonly<Record<string, string>>

/** All series of one name. */
export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  lines(): Iterable<string>
}

const escapeValue = (text: string) => (/["\\\n]/.test(text) ? escaped(text) : text)

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** `a="1",b="2"`, as it stands between the braces of a series. */
export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([k, v]) => `${k}="${escapeValue(v)}"`)
    .join(',')

const braced = (text: string) => (text === '' ? '' : `{${text}}`)

/** What a histogram has counted: of values up to each bound and above the one before, and of all. */
export interface Counts {
  counts: number[]
  sum: number
  count: number
}

export const noCounts = (bounds: readonly number[]): Counts => ({ counts: bounds.map(() => 0), sum: 0, count: 0 })

/** Counts one more value. `bounds` are rising upper bounds. */
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

/** The lines of one series of a histogram; `labels` as `labelText` has them. */
export function* histogramLines(name: string, labels: string, bounds: readonly number[], { counts, sum, count }: Counts): Iterable<string> {
  const lead = labels === '' ? '' : `${labels},`
  // What is counted while lines are read, in another turn, is not among those that were counted before.
  const copy = [...counts]
  let seen = 0
  for (const [i, bound] of bounds.entries()) yield `${name}_bucket{${lead}le="${bound}"} ${(seen += copy[i]!)}`
  yield `${name}_bucket{${lead}le="+Inf"} ${count}`
  yield `${name}_sum${braced(labels)} ${sum}`
  yield `${name}_count${braced(labels)} ${count}`
}

/** One series of a counter or gauge. Hold on to it on hot paths: finding it again costs more than counting. */
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

  /** Forgets one series, as when what it measured is gone. */
  remove(labels: Labels): void {
    this.#series.delete(labelText(labels))
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
  /** Upper bounds, rising. */
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

/** A line of a metric with more labels, given as `labelText` has them. */
function withLabels(line: string, labels: string): string {
  const at = line.search(/[{ ]/)
  return line[at] === '{' ? `${line.slice(0, at)}{${labels},${line.slice(at + 1)}` : `${line.slice(0, at)}{${labels}}${line.slice(at)}`
}

/** A set of metrics with the text form that Prometheus scrapes. */
export class MetricsRegistry {
  readonly #families = new Map<string, Family>()
  #outer: { registry: MetricsRegistry; labels: string } | undefined

  /** A registry whose metrics are told by this one, each with these labels besides its own. */
  labelled(labels: Labels): MetricsRegistry {
    const inner = new MetricsRegistry()
    inner.#outer = { registry: this, labels: labelText(labels) }
    return inner
  }

  /** `collect` is called before each scrape, for values that are cheaper read than kept. */
  counter(name: string, help: string, collect?: (counter: Counter) => void): Counter {
    return this.#add(new Values('counter', name, help, collect))
  }

  gauge(name: string, help: string, collect?: (gauge: Gauge) => void): Gauge {
    return this.#add(new Values('gauge', name, help, collect))
  }

  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    return this.#add(new Histogram(name, help, bounds))
  }

  /** A family whose lines somebody else makes, at each scrape. */
  family(family: Family): void {
    this.#add(family)
  }

  text(): string {
    return [...this.pieces()].join('')
  }

  /** The text in pieces that are made as they are read: of very many series it is never whole in memory. */
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

  /** The same as bytes, made in slices: series for each of very many pods would hold the event loop. */
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
