import { expect, vi } from 'vitest'
import { ProcessBench } from '../process/testing.ts'
import { describeRuntime } from './runtime-suite.ts'

describeRuntime('process', async () => {
  const bench = new ProcessBench()
  const runtime = await bench.open()
  return {
    runtime,
    logDirectory: `${bench.directory}/logs`,
    until: (holds) => vi.waitFor(async () => expect(await holds()).toBe(true), { timeout: 10_000, interval: 5 }),
    end: () => bench.end(),
  }
})
