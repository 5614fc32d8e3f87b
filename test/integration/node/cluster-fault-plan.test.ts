import { expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { Logger } from '../../../src/base/logger.ts'
import { systemRandom } from '../../../src/base/random.ts'
import { configmaps } from '../../../src/client/index.ts'
import { startCluster } from '../../../src/cluster/testing.ts'
import { FaultPlan, type FaultRule, addFaults, clearFaults, followClusterPlan, listFaults } from '../../../src/node/faults/index.ts'

it('followClusterPlan() has a plan be as the cluster says', async () => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  const logged: string[] = []
  const plan = new FaultPlan(systemClock, systemRandom)
  const logger = new Logger((line) => logged.push(line))
  onTestFinished(followClusterPlan(plan, { transport: cluster.transport, clock: systemClock, random: systemRandom, logger }))
  const failureOf = (stage: 'image' | 'volumes') => plan.at(stage, { node: 'worker', pod: undefined, container: undefined })?.fail

  const add = (...rules: FaultRule[]) => addFaults(cluster.client, rules, systemClock.now())
  await add({ name: 'slow', stage: 'image', fail: 'a' })
  await vi.waitFor(() => expect(failureOf('image')).toBe('a'))
  await clearFaults(cluster.client, ['slow'])
  await add({ name: 'other', stage: 'volumes', fail: 'b' }, { name: 'slow', stage: 'image', fail: 'c' })
  await vi.waitFor(() => expect([failureOf('image'), failureOf('volumes')]).toEqual(['c', 'b']))
  expect((await listFaults(cluster.client)).rules.map((r) => r.name).sort()).toEqual(['other', 'slow'])

  await cluster.client.patch(configmaps, 'kube-system', 'coxswain-faults', { data: { typed: 'stage: disk' } }, { type: 'merge' })
  await vi.waitFor(() => expect(logged.join('')).toContain('data[typed].stage: must be one of'))
  expect([failureOf('image'), failureOf('volumes')]).toEqual(['c', 'b'])

  expect(await clearFaults(cluster.client, ['slow'])).toEqual(['slow'])
  await vi.waitFor(() => expect([failureOf('image'), failureOf('volumes')]).toEqual([undefined, 'b']))
  await expect(clearFaults(cluster.client, ['slow'])).rejects.toThrow('fault slow not found')
  expect((await clearFaults(cluster.client, [])).sort()).toEqual(['other', 'typed'])
  await vi.waitFor(() => expect(failureOf('volumes')).toBeUndefined())
  expect(await listFaults(cluster.client)).toEqual({ rules: [], problems: [] })
})

it('addFaults() refuses a name that is taken, and leaves the plan as it is', async () => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  const nowMs = Date.parse('2026-01-01T00:00:00Z')
  const add = (...rules: FaultRule[]) => addFaults(cluster.client, rules, nowMs)
  const names = async () => (await listFaults(cluster.client)).rules.map(({ name, fail }) => `${name} ${String(fail)}`).sort()
  await add({ name: 'csi', stage: 'csi', fail: 'a' }, { name: 'over', stage: 'image', fail: 'a', until: '2026-01-01T00:00:00Z' })
  await expect(add({ name: 'new', stage: 'image', fail: 'b' }, { name: 'csi', stage: 'network', fail: 'b' })).rejects.toThrow(
    'fault "csi" (stage csi) already exists: choose another name, or first remove it with: coxswain fault clear csi',
  )
  expect(await names()).toEqual(['csi a', 'over a'])
  // One whose time is over is in nobody's way.
  await add({ name: 'over', stage: 'image', fail: 'b' })
  expect(await names()).toEqual(['csi a', 'over b'])
  await cluster.client.patch(configmaps, 'kube-system', 'coxswain-faults', { data: { typed: 'stage: disk' } }, { type: 'merge' })
  await expect(add({ name: 'typed', stage: 'image', fail: 'b' })).rejects.toThrow('fault "typed" already exists')
  // One of the concurrent requests gets the name.
  const together = await Promise.allSettled(['x', 'y', 'z'].map((fail) => add({ name: 'same', stage: 'image', fail })))
  expect(together.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})
