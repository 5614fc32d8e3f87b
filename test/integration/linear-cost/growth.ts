/** The ratio between the sizes of the large and the small case. */
const factor = 4
/** A linear cost is four times as high, a quadratic one up to sixteen times. */
const maxRatio = 8
/** The number of times that a suspicious case is measured. */
const tries = 8

/** Makes the case of a size; what it answers is measured. */
export type Case = (size: number) => () => unknown

/** CPU of one run, whatever comes of it. */
async function costMs(run: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  try {
    await run()
  } catch {
    // A refusal is an answer like any other.
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

interface Named {
  name: string
  make: Case
}

/** A case that costs so many times what others cost is looked at closely. */
const striking = 2.5

/**
 * The cases that cost too much. All are run once in the large. Only those are compared with the small that stand out from the others, whatever the
 * machine: what is quadratic does, where the large is large enough.
 */
export async function excesses(cases: readonly Named[], large: number, leastMs: number): Promise<string[]> {
  const costs: number[] = []
  for (const { make } of cases) costs.push(await costMs(make(large)))
  const median = costs.toSorted((a, b) => a - b)[cases.length >> 1]!
  const wrong: string[] = []
  for (const [i, { name, make }] of cases.entries()) {
    if (costs[i]! < Math.max(leastMs, striking * median)) continue
    const found = await excess(name, make, large, leastMs)
    if (found) wrong.push(found)
  }
  return wrong
}

/**
 * The cost ratio of a case if it is too high. Undefined otherwise. A case that takes less than `leastMs` in the large
 * size is not measured further. Other work on the machine only increases the cost, so the minimum of several runs
 * counts.
 */
export async function excess(name: string, make: Case, large: number, leastMs: number): Promise<string | undefined> {
  const small = large / factor
  await costMs(make(small / 10))
  let [less, more] = [Infinity, await costMs(make(large))]
  for (let i = 0; i < tries; i++) {
    if (more < leastMs) return undefined
    less = Math.min(less, await costMs(make(small)))
    if (i > 0 && more <= maxRatio * less) return undefined
    more = Math.min(more, await costMs(make(large)))
  }
  return `${name}: ${less.toFixed(1)} ms, then ${more.toFixed(1)} ms for ${factor} times as much`
}
