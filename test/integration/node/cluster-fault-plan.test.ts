import { expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { Logger } from '../../../src/base/logger.ts'
import { systemRandom } from '../../../src/base/random.ts'
import { configmaps } from '../../../src/client/index.ts'
import { startCluster } from '../../../src/cluster/testing.ts'
import { FaultPlan, addFaults, clearFaults, followClusterPlan, listFaults } from '../../../src/node/faults/index.ts'

it('followClusterPlan() has a plan be as the cluster says', async () => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  const logged: string[] = []
  const plan = new FaultPlan(systemClock, systemRandom)
  const logger = new Logger((line) => logged.push(line))
  onTestFinished(followClusterPlan(plan, { transport: cluster.transport, clock: systemClock, random: systemRandom, logger }))
  const failureOf = (stage: 'image' | 'volumes') => plan.at(stage, { node: 'worker', pod: undefined, container: undefined })?.fail

  await addFaults(cluster.client, [{ name: 'slow', stage: 'image', fail: 'a' }])
  await vi.waitFor(() => expect(failureOf('image')).toBe('a'))
  await addFaults(cluster.client, [{ name: 'other', stage: 'volumes', fail: 'b' }, { name: 'slow', stage: 'image', fail: 'c' }])
  await vi.waitFor(() => expect([failureOf('image'), failureOf('volumes')]).toEqual(['c', 'b']))
  expect((await listFaults(cluster.client)).rules.map((r) => r.name).sort()).toEqual(['other', 'slow'])

  await cluster.client.patch(configmaps, 'kube-system', 'coxswain-faults', { data: { typed: 'stage: disk' } }, { type: 'merge' })
  await vi.waitFor(() => expect(logged.join('')).toContain('data[typed].stage: must be one of'))
  expect([failureOf('image'), failureOf('volumes')]).toEqual(['c', 'b'])

  expect(await clearFaults(cluster.client, ['slow'])).toEqual(['slow'])
  await vi.waitFor(() => expect([failureOf('image'), failureOf('volumes')]).toEqual([undefined, 'b']))
  await expect(clearFaults(cluster.client, ['slow'])).rejects.toThrow('there is no fault slow')
  expect((await clearFaults(cluster.client, [])).sort()).toEqual(['other', 'typed'])
  await vi.waitFor(() => expect(failureOf('volumes')).toBeUndefined())
  expect(await listFaults(cluster.client)).toEqual({ rules: [], problems: [] })
})
