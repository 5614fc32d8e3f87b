import { describe, expect, it, onTestFinished } from 'vitest'
import { FeatureGates } from '../../../src/api/feature-gates.ts'
import { MetricsRegistry } from '../../../src/base/metrics.ts'
import { runRolloutStatus } from '../../../src/cli/rollout/status.ts'
import { sloTable } from '../../../src/cli/slo/slo-table.ts'
import { runStatus } from '../../../src/cli/status/run.ts'
import { runWhy } from '../../../src/cli/why/run.ts'
import { daemonsets, pods, replicasets, statefulsets } from '../../../src/client/index.ts'
import { objectsOf } from '../../../src/cluster/manifests/index.ts'
import { InProcessTransport, SeededRandom, settled } from '../../../src/cluster/testing.ts'
import { ControllerManager, publishers } from '../../../src/controllers/index.ts'
import { SloConsumer, parseSlos } from '../../../src/monitor/index.ts'
import { MonitorScene } from '../monitor/scene.ts'
import { applyManifest } from './manifest.ts'
import { KubernetesVersion } from './kubernetes-version.ts'
import { NotedTransport } from './rights.ts'
import { StockScene } from './stock-scene.ts'
import { viewedCluster } from './viewer.ts'
import { daemonSet, replicaSet, statefulSet } from './workloads.ts'

const minors = [29, 30, 31, 32, 33, 34, 35, 36, 37]
const namespace = 'coxswain-system'
const settings = { namespace, image: 'coxswain:1', replicas: () => 2 }
const userOf = (part: string) => ({
  name: `system:serviceaccount:${namespace}:coxswain-${part}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
})

describe.each(minors)('on Kubernetes 1.%i', { timeout: 20_000 }, (minor) => {
  it('status, why and rollout status tell what they tell on ours, to a user who may only view', async () => {
    const { run } = await viewedCluster((transport) => new KubernetesVersion(transport, minor))
    const all = { args: [], allNamespaces: false, showOwned: false, form: undefined, watch: false }
    const status = await run((session) => runStatus(session, all))
    // Kubernetes' role `view` has neither of these.
    expect([status.code, status.err]).toEqual([0, 'Could not be read: clonesets.apps.kruise.io (Forbidden), nodes (Forbidden).\n'])
    for (const name of ['statefulset/db', 'daemonset/agent', 'deployment/web', 'job/task']) expect(status.out).toContain(name)
    const why = await run((session) => runWhy(session, ['statefulset/db'], undefined))
    expect([why.code, why.out]).toEqual([3, expect.stringContaining('no such image')])
    expect((await run((session) => runWhy(session, ['deployment/web'], undefined))).code).toBe(0)
    const two = { args: ['daemonset/agent', 'deployment/web'], watch: false, timeoutMs: undefined, live: false }
    const rollout = await run((session) => runRolloutStatus(session, two))
    expect(rollout.code, rollout.err).toBe(0)
  })

  it('the publisher and the monitor do their work with the rights of their manifests', async () => {
    const s = await StockScene.begin({ authorization: [{ type: 'RBAC' }], isDefined: false })
    for (const object of objectsOf(['namespace', 'definitions', 'publisher', 'monitor'], settings, false)) await applyManifest(s, object)
    await settled()
    const as = (part: string) => new NotedTransport(new KubernetesVersion(new InProcessTransport(s.cluster.server, userOf(part)), minor))
    const wires = { publisher: as('publisher'), monitor: as('monitor') }
    const controllers = publishers({ writesPerSecond: 50, clock: s.clock })
    const manager = new ControllerManager({
      transport: wires.publisher, clock: s.clock, random: new SeededRandom(5), gates: FeatureGates.of(), controllers,
    })
    const slos = await parseSlos('slos:\n- { name: succeeds, indicator: creation-success, objective: 99%, window: 30d }')
    const consumer = new SloConsumer(slos, s.clock, new MetricsRegistry())
    const monitor = new MonitorScene(wires.monitor, s.clock, { consumers: [consumer], userObjects: false })
    const started = Promise.all([manager.start(), monitor.monitor.start()])
    await s.pass(10_000)
    await started
    onTestFinished(async () => {
      const stopped = Promise.all([manager.stop(), monitor.stop()])
      await s.pass(5000)
      await stopped
    })
    await s.client.create(statefulsets, statefulSet('s'))
    await s.client.create(daemonsets, daemonSet('d'))
    await s.client.create(replicasets, replicaSet('r'))
    for (const app of ['s', 'd', 'r']) await s.report(app)
    const lastTransitionTime = new Date(s.clock.now()).toISOString().replace(/\.\d+/, '')
    const conditions = ['PodScheduled', 'PodReadyToStartContainers'].map((type) => ({ type, status: 'True', lastTransitionTime }))
    for (const { metadata: { name = '' } } of await s.podsOf('s')) {
      await s.client.patch(pods, 'default', name, { status: { conditions } } as never, { type: 'strategic', subresource: 'status' })
    }
    await s.pass(30_000)
    for (const [type, name] of [[statefulsets, 's'], [daemonsets, 'd'], [replicasets, 'r']] as const) {
      expect(await s.said(type, name)).toContain('Available=True MinimumReplicasAvailable')
    }
    const report = consumer.report()
    expect(report.slos[0]!.events).toBeGreaterThan(0)
    expect(sloTable(report).join('\n')).toContain('succeeds')
    for (const { refused } of Object.values(wires)) expect([...refused]).toEqual([])
  })
})
