import { spawnSync } from 'node:child_process'
import { describe, expect, vi } from 'vitest'
import type { ViewKind } from '../process/root-view.ts'
import { ProcessBench } from '../process/testing.ts'
import { describeRuntime } from './runtime-suite.ts'

// Skipped if the kernel does not allow user namespaces.
const hasNamespaces = spawnSync('unshare', ['--user', '--map-root-user', '--mount', '--pid', '--fork', 'true']).status === 0

describe.each<ViewKind | undefined>(hasNamespaces ? [undefined, 'namespace'] : [undefined])('view %s', (view) => describeRuntime('process', async () => {
  const bench = new ProcessBench()
  const runtime = await bench.open(view ? { view } : {})
  return {
    runtime,
    logDirectory: `${bench.directory}/logs`,
    until: (holds) => vi.waitFor(async () => expect(await holds()).toBe(true), { timeout: 10_000, interval: 5 }),
    end: () => bench.end(),
  }
}))
