import { describe, expect, it, onTestFinished } from 'vitest'
import { FeatureGates } from '../../../src/api/feature-gates.ts'
import type { Lease } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import {
  type ResourceType, controllerrevisions, daemonsets, deployments, jobs, leases, pods, replicasets, statefulsets,
} from '../../../src/client/index.ts'
import { InProcessTransport, SeededRandom } from '../../../src/cluster/testing.ts'
import { ControllerManager, type ManagedController, rivalOf } from '../../../src/controllers/index.ts'
import { StockStatusTransport } from './stock-manager.ts'
import { StockScene, stockControllers } from './stock-scene.ts'
import { daemonSet, deployment, job, replicaSet, statefulSet } from './workloads.ts'

const user = { name: 'system:kube-controller-manager', groups: ['system:masters'] }

/** Runs controllers in the scene: Kubernetes' by their statuses, or ours. */
async function run(s: StockScene, whose: 'stock' | 'ours', controllers: readonly ManagedController[] = stockControllers()) {
  const inner = new InProcessTransport(s.cluster.server, user)
  const isOurs = whose === 'ours'
  const manager = new ControllerManager({
    transport: isOurs ? inner : new StockStatusTransport(inner), clock: s.clock, random: new SeededRandom(isOurs ? 7 : 8),
    gates: isOurs ? FeatureGates.of() : s.cluster.gates, controllers,
  })
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= (async () => {
    const ended = manager.stop()
    await s.pass(5000)
    await ended
  })())
  onTestFinished(stop)
  await manager.start()
  await s.pass(1000)
  return { manager, stop }
}

/** Everything that a change of managers must leave as it is. */
async function belongings(s: StockScene): Promise<unknown> {
  const list = async (type: ResourceType) => (await s.client.list(type, 'default')).items as (KubeObject & { data?: unknown; spec?: any; status?: any; revision?: unknown })[]
  const byName = <T extends { name?: string | undefined }>(some: T[]) => some.toSorted((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1))
  const identity = ({ metadata: { name, uid, labels, annotations, ownerReferences } }: KubeObject) => ({ name, uid, labels, annotations, ownerReferences })
  return {
    pods: byName((await list(pods)).map((pod) => ({ ...identity(pod), spec: pod.spec as unknown }))),
    revisions: byName((await list(controllerrevisions)).map((one) => ({ ...identity(one), data: one.data, revision: one.revision }))),
    sets: byName((await list(replicasets)).map((one) => ({ ...identity(one), spec: one.spec as unknown, generation: one.metadata.generation }))),
    owners: await Promise.all([statefulsets, daemonsets, deployments].map(async (type) =>
      byName((await list(type)).map((one) => ({ ...identity(one), generation: one.metadata.generation, collisions: (one.status?.collisionCount ?? 0) as number }))))),
  }
}

async function begin(): Promise<StockScene> {
  const s = await StockScene.begin({ controllers: [] })
  return s
}

describe('taking workloads over from a stock manager, and handing them back', () => {
  it('replaces no pod and makes no revision, either way', async () => {
    const s = await begin()
    const first = await run(s, 'stock')
    await s.client.create(statefulsets, statefulSet('s'))
    await s.client.create(daemonsets, daemonSet('d'))
    await s.client.create(deployments, deployment('p'))
    await s.client.create(replicasets, replicaSet('r'))
    await s.client.create(jobs, job('j'))
    for (const app of ['s', 'd', 'p', 'r']) await s.report(app)
    await s.pass(10_000)
    const before = await belongings(s)
    await first.stop()

    const ours = await run(s, 'ours')
    await s.pass(600_000)
    expect(await belongings(s)).toEqual(before)
    expect(await s.said(statefulsets, 's')).toContain('Available=True MinimumReplicasAvailable')
    await ours.stop()

    await run(s, 'stock')
    await s.pass(600_000)
    expect(await belongings(s)).toEqual(before)
  })

  it('goes on with a rollout where the other manager left it', async () => {
    const s = await begin()
    const first = await run(s, 'stock')
    await s.client.create(statefulsets, statefulSet('s', 3))
    await s.report('s')
    const image = { spec: { template: { spec: { containers: [{ name: 'main', image: 'example.com/app:2' }] } } } }
    await s.client.patch(statefulsets, 'default', 's', image, { type: 'strategic' })
    await s.pass(1000)
    const revisions = async () => (await s.client.list(controllerrevisions, 'default')).items.map(({ metadata }) => metadata.name).sort()
    const made = await revisions()
    await first.stop()
    const ours = await run(s, 'ours')
    await s.report('s')
    await ours.stop()
    await run(s, 'stock')
    await s.report('s')
    await s.pass(10_000)
    expect(await revisions()).toEqual(made)
    expect((await s.podsOf('s')).map(({ spec }) => spec.containers[0]!.image)).toEqual(Array(3).fill('example.com/app:2'))
  })
})

describe('a controller that another manager may run', () => {
  const lease = { namespace: 'kube-system', name: 'kube-controller-manager' }
  const guarded = stockControllers().map((controller) => ({ ...controller, rival: lease }))
  const renew = (s: StockScene, holderIdentity: string, renewTime: string) =>
    s.client.patch(leases, lease.namespace, lease.name, { spec: { holderIdentity, renewTime, leaseDurationSeconds: 15 } }, { type: 'merge' })
  const hold = (s: StockScene) =>
    s.client.create(leases, { metadata: lease, spec: { holderIdentity: 'master_1', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' } } as unknown as Lease)

  it('is not run while the lease is held, and says whose it is', async () => {
    const s = await begin()
    await hold(s)
    const { manager } = await run(s, 'ours', guarded)
    await s.client.create(replicasets, replicaSet('r'))
    for (let i = 1; i <= 20; i++) {
      await s.pass(5000)
      await renew(s, 'master_1', `2026-01-01T00:${String(i).padStart(2, '0')}:00.000000Z`)
    }
    expect(await s.podsOf('r')).toEqual([])
    expect(manager.problems()).toContain('controller replicaset is not run: the lease kube-system/kube-controller-manager is held by master_1, who may run it')
  })

  it('is run once the holder is gone, and stops when it comes back', async () => {
    const s = await begin()
    await hold(s)
    const { manager } = await run(s, 'ours', guarded)
    await s.client.create(replicasets, replicaSet('r'))
    await s.pass(20_000)
    expect([(await s.podsOf('r')).length, manager.problems()]).toEqual([2, []])
    await renew(s, 'master_2', '2026-01-01T01:00:00.000000Z')
    await s.pass(1000)
    await s.client.patch(replicasets, 'default', 'r', { spec: { replicas: 3 } }, { type: 'merge' })
    await s.pass(5000)
    expect((await s.podsOf('r')).length).toBe(2)
  })

  it('is run where no such lease is', async () => {
    const s = await begin()
    await run(s, 'ours', guarded)
    await s.client.create(replicasets, replicaSet('r'))
    await s.pass(1000)
    expect((await s.podsOf('r')).length).toBe(2)
  })

  it('has a rival by its name', () => {
    expect(['statefulset-controller', 'cloneset-controller', 'claim-recovery-controller'].map(rivalOf)).toEqual([
      lease, { namespace: 'kruise-system', name: 'kruise-manager' }, undefined,
    ])
  })
})
