import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FeatureGates } from '../../../src/api/feature-gates.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { Logger } from '../../../src/base/logger.ts'
import { MetricsRegistry } from '../../../src/base/metrics.ts'
import { systemRandom } from '../../../src/base/random.ts'
import { nodes } from '../../../src/client/index.ts'
import { type TestCluster, startCluster } from '../../../src/cluster/testing.ts'
import { FaultPlan, NodeSources, StageTimes, processNode } from '../../../src/node/index.ts'

let cluster: TestCluster
let directory: string
beforeEach(async () => {
  cluster = await startCluster()
  directory = mkdtempSync(path.join(tmpdir(), 'coxswain-isolation-'))
})
afterEach(async () => {
  await cluster.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Starts a process node with this isolation, waits for the condition that it reports, and stops it. */
async function reported(view: 'links' | 'own', status: string): Promise<{ message: string | undefined; log: string[] }> {
  const log: string[] = []
  const common = { clock: systemClock, random: systemRandom, logger: new Logger((line) => void log.push(line)) }
  const sources = new NodeSources({ ...common, transport: cluster.transport, nodeName: 'n1' })
  sources.start()
  const { agent, runtime } = await processNode({
    ...common, sources, name: 'n1', directory, view, shimProgram: import.meta.filename, gates: FeatureGates.of(),
    faults: new FaultPlan(systemClock, systemRandom), times: new StageTimes(new MetricsRegistry()), patched: () => {},
  })
  try {
    await agent.start()
    return await vi.waitFor(async () => {
      const { status: now } = await cluster.client.get(nodes, '', 'n1')
      const condition = now!.conditions!.find(({ type }) => type === 'PodsIsolated')
      expect(condition?.status).toBe(status)
      return { message: condition?.message, log }
    }, { timeout: 20_000, interval: 20 })
  } finally {
    await agent.stop()
    await runtime.close()
    sources.stop()
  }
}

it('a node whose pods are not isolated says so in its log and its status, until a later start isolates them', async () => {
  const { message, log } = await reported('links', 'False')
  expect(message).toMatch(/^pods are not isolated: .*\(as configured\)$/)
  expect(log.filter((line) => line.includes('pods are not isolated')).length).toBe(1)
  expect((await reported('own', 'True')).log.filter((line) => line.includes('not isolated'))).toEqual([])
}, 60_000)
