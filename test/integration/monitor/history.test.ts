import { afterEach, expect, it } from 'vitest'
import { History } from './history.ts'
import { type Verdict, judgePod } from './trail-oracle.ts'

let history: History | undefined
afterEach(async () => {
  await history?.stop()
  history = undefined
})

it.each([1, 2, 3])('a monitor counts what the versions of 200 pods say, restarts or not: seed %d', async (seed) => {
  history = await History.start(seed)
  await history.run(200, 700)
  const { trails, absences, clock } = history
  const count = (wanted: Verdict, thresholdMs: number) =>
    [...trails.values()].filter((trail) => judgePod(trail, absences, { thresholdMs, timeoutMs: 300_000 }, clock.now()) === wanted).length
  const [ready, succeeds] = history.report().slos
  expect(history.restarts).toBeGreaterThan(2)
  expect(trails.size).toBe(200)
  expect({ bad: ready!.bad, good: ready!.events - ready!.bad }).toEqual({ bad: count('bad', 10_000), good: count('good', 10_000) })
  expect({ bad: succeeds!.bad, good: succeeds!.events - succeeds!.bad }).toEqual({ bad: count('bad', Infinity), good: count('good', Infinity) })
  expect(ready!.groups.reduce((sum, { bad }) => sum + bad, 0)).toBe(ready!.bad)
  const errors = [...history.metrics.text().matchAll(/^coxswain_pod_sandbox_user_errors_total\{.*\} (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0)
  expect(errors).toBe(count('user error', 10_000))
}, 60_000)
