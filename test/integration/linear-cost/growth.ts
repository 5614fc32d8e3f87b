/** How much the large case has of what the small one has one of. */
const factor = 4
/** What is linear costs four times as much, what is quadratic up to sixteen times. */
const maxRatio = 8
/** How often a suspicion is looked into. */
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
 * What a case costs where it costs too much at a factor's size: undefined where it does not. A case that takes less than `leastMs` in the large
 * is not looked at any further. Other work on the machine only ever makes a run cost more, so the least of several tries counts.
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
