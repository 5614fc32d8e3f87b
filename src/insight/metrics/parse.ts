/** One line of a scrape: a name, labels and a value. */
interface Sample {
  name: string
  labels: Readonly<Record<string, string>>
  value: number
}

/** Samples by name. */
export type Samples = ReadonlyMap<string, readonly Sample[]>

const namePattern = /^[a-zA-Z_:][\w:]*/
const labelPattern = /\s*([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?/y
const escapes: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' }

const specialValues: Readonly<Record<string, number>> = {
  '+Inf': Infinity,
  Inf: Infinity,
  '-Inf': -Infinity,
  NaN: Number.NaN,
}

/** Parses Prometheus' text format. Comments and invalid lines are omitted: one bad line must not hide all others. */
export function parseMetrics(text: string): Samples {
  const samples = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    const sample = line.startsWith('#') ? undefined : sampleOf(line.trim())
    if (!sample) continue
    const known = samples.get(sample.name)
    if (known) known.push(sample)
    else samples.set(sample.name, [sample])
  }
  return samples
}

function sampleOf(line: string): Sample | undefined {
  const name = namePattern.exec(line)?.[0]
  if (!name) return undefined
  const rest = line.slice(name.length).trimStart()
  const labelled = rest.startsWith('{') ? readLabels(rest) : { labels: {}, rest }
  // A timestamp may follow the value.
  const [number = ''] = labelled?.rest.trim().split(/\s+/) ?? []
  const value = specialValues[number] ?? Number(number)
  if (!labelled || number === '' || (Number.isNaN(value) && number !== 'NaN')) return undefined
  return { name, labels: labelled.labels, value }
}

function readLabels(text: string): { labels: Record<string, string>; rest: string } | undefined {
  const labels: Record<string, string> = {}
  let at = 1
  for (;;) {
    labelPattern.lastIndex = at
    const match = labelPattern.exec(text)
    if (!match) break
    labels[match[1]!] = match[2]!.replaceAll(/\\(.)/g, (whole, letter: string) => escapes[letter] ?? whole)
    at = labelPattern.lastIndex
  }
  const end = text.slice(at).search(/\S/)
  return end >= 0 && text[at + end] === '}' ? { labels, rest: text.slice(at + end + 1) } : undefined
}

/** The sum of all series of a name that have these labels. Undefined without any. */
export function sumOf(
  samples: Samples,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = Object.entries(labels)
  const found = (samples.get(name) ?? []).filter((sample) =>
    wanted.every(([key, value]) => sample.labels[key] === value),
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}
