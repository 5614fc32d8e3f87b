import { describe, expect, it, onTestFinished } from 'vitest'
import type { CloneSet } from '../../../src/api/generated/types.ts'
import { Logger } from '../../../src/base/logger.ts'
import { MetricsRegistry } from '../../../src/base/metrics.ts'
import { SharedInformer, clonesets, clusterrolebindings, clusterroles, pods, replicasets } from '../../../src/client/index.ts'
import { InProcessTransport, SeededRandom, VirtualClock, passTime, settled, startCluster } from '../../../src/cluster/testing.ts'
import { ControllerManager, type ManagedController, catalogue, selectControllers } from '../../../src/controllers/index.ts'
import { cloneSetDefinition } from '../stock/definitions.ts'
import { replicaSet } from '../stock/workloads.ts'
import { TappedTransport } from '../tapped-transport.ts'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const replicaSets = catalogue['replicaset-controller'] as ManagedController
const cloneSets = catalogue['cloneset-controller'] as ManagedController

const cloneSet: CloneSet = {
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'CloneSet',
  metadata: { name: 'c', namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'c' } },
    template: { metadata: { labels: { app: 'c' } }, spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] } },
  },
} as unknown as CloneSet

/** A stock cluster, and a manager over a transport of its own. */
async function scene(options: { controllers?: readonly ManagedController[]; rbac?: boolean } = {}) {
  const clock = new VirtualClock()
  const cluster = await startCluster({ stock: true, clock, random: new SeededRandom(1), ...(options.rbac ? { authorization: [{ type: 'RBAC' }] } : {}) })
  const lines: string[] = []
  const metrics = new MetricsRegistry()
  const user = options.rbac ? { name: 'ann', groups: ['system:authenticated'] } : { name: 'manager', groups: ['system:masters'] }
  const inner = new InProcessTransport(cluster.server, user)
  const transport = new TappedTransport(() => inner, clock)
  const manager = new ControllerManager({
    transport, clock, random: new SeededRandom(2), metrics, gates: cluster.gates,
    controllers: options.controllers ?? [cloneSets, replicaSets],
    logger: new Logger((line) => lines.push(line), 'info', {}, () => clock.now()),
  })
  onTestFinished(async () => {
    const stopped = manager.stop()
    await passTime(clock, 5000)
    await stopped
    await cluster.stop()
  })
  const podCount = async (app: string) => (await cluster.client.list(pods, 'default', { labelSelector: `app=${app}` })).items.length
  return {
    ...cluster, clock, manager, metrics, lines, transport, podCount,
    pass: (ms: number) => passTime(clock, ms),
    said: (words: string) => lines.filter((line) => line.includes(words)),
    install: () => cluster.client.transport.send({ method: 'POST', path: definitions, body: cloneSetDefinition }),
    uninstall: () => cluster.client.transport.send({ method: 'DELETE', path: `${definitions}/clonesets.apps.kruise.io` }),
  }
}

describe('a controller whose API is not served', () => {
  it('waits, while the others run, says so once, and keeps nobody from being ready', async () => {
    const s = await scene()
    await s.manager.start()
    await s.client.create(replicasets, replicaSet('r'))
    await s.pass(600_000)
    expect(await s.podCount('r')).toBe(2)
    expect(s.manager.role).toEqual({ kind: 'acting' })
    expect(s.manager.problems()).toEqual([])
    expect(s.manager.absences()).toEqual(['clonesets.apps.kruise.io are not served by the API server', 'waiting: cloneset'])
    expect(s.said('the API is not available')).toHaveLength(1)
    expect(s.metrics.text()).toContain('informer_api_absent{name="clonesets.apps.kruise.io",kind="missing"} 1')
    expect(s.metrics.text()).toContain('informer_api_absent{name="pods",kind="missing"} 0')
  })

  it('starts within seconds of the API, stops with it, and starts again', async () => {
    const s = await scene()
    await s.manager.start()
    await s.client.create(replicasets, replicaSet('r', 1))
    for (let round = 1; round <= 2; round++) {
      await s.install()
      await settled()
      await s.client.create(clonesets, structuredClone(cloneSet) as never)
      await s.pass(5000)
      expect(await s.podCount('c')).toBe(2)
      expect(s.manager.absences()).toEqual([])

      await s.uninstall()
      await s.pass(10_000)
      expect(s.manager.absences()).toContain('waiting: cloneset')
      expect(s.said('controller stopped until its APIs are available')).toHaveLength(round)
      await s.client.patch(replicasets, 'default', 'r', { spec: { replicas: 1 + round } }, { type: 'merge' })
      await s.pass(1000)
      expect(await s.podCount('r')).toBe(1 + round)
      for (const pod of (await s.client.list(pods, 'default', { labelSelector: 'app=c' })).items) {
        await s.client.delete(pods, 'default', pod.metadata.name!, { gracePeriodSeconds: 0 } as never)
      }
    }
  })

  it('is a problem where the kind is not optional', async () => {
    const { isOptional: _, ...needed } = cloneSets
    const s = await scene({ controllers: [needed as ManagedController, replicaSets] })
    await s.manager.start()
    expect(s.manager.problems()).toEqual(['clonesets.apps.kruise.io are not served by the API server'])
  })

  it('asks for nothing while it is not selected', async () => {
    const settings = { rootCa: '', timeZone: 'UTC', volumesDir: '/v' }
    const selected = [...selectControllers(['*', '-cloneset-controller'], settings).values()].flat()
    const s = await scene({ controllers: selected })
    await s.manager.start()
    await s.pass(60_000)
    expect(s.transport.requests.filter(({ path }) => path.includes('kruise'))).toEqual([])
    expect(s.manager.absences()).toEqual([])
  })
})

/** A role with which a ReplicaSet can be run. */
const role = (resources: string[]) => ({
  metadata: { name: 'reader' },
  rules: [
    { apiGroups: ['', 'apps'], resources, verbs: ['*'] },
    { apiGroups: [''], resources: ['events'], verbs: ['*'] },
  ],
})
const all = ['pods', 'resourcequotas', 'replicasets', 'replicasets/status', 'nodes', 'persistentvolumeclaims']

/** A scene in which the controllers have these rights alone. */
async function restricted(resources: string[]) {
  const s = await scene({ rbac: true, controllers: [replicaSets] })
  await s.client.create(clusterroles, role(resources) as never)
  await s.client.create(clusterrolebindings, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
  } as never)
  await settled()
  return { ...s, allow: (now: string[]) => s.client.patch(clusterroles, '', 'reader', { rules: role(now).rules }, { type: 'merge' }) }
}

describe('a controller that may not read what it needs', () => {
  it('says so in the words of the server, fails readiness, and starts within seconds of the grant', async () => {
    const s = await restricted(all.filter((name) => name !== 'replicasets'))
    await s.manager.start()
    const refusal = 'replicasets.apps is forbidden: User "ann" cannot watch resource "replicasets" in API group "apps" at the cluster scope'
    expect(s.manager.problems()).toEqual([refusal])
    expect(s.manager.absences()).toEqual([refusal, 'waiting: replicaset'])
    await s.client.create(replicasets, replicaSet('r'))
    await s.pass(60_000)
    expect([await s.podCount('r'), s.said('the API is not available').length]).toEqual([0, 1])

    await s.allow(all)
    await s.pass(5000)
    expect([await s.podCount('r'), s.manager.problems(), s.manager.absences()]).toEqual([2, [], []])
  })

  it('stops when it is no longer allowed, and goes on when it is again', async () => {
    const s = await restricted(all)
    await s.manager.start()
    await s.client.create(replicasets, replicaSet('r'))
    await s.pass(1000)
    await s.allow(all.filter((name) => name !== 'pods'))
    // A watch that is open goes on until its time is up.
    await s.pass(11 * 60_000)
    expect(s.manager.absences().join()).toContain('cannot watch resource "pods"')
    await s.client.patch(replicasets, 'default', 'r', { spec: { replicas: 3 } }, { type: 'merge' })
    await s.pass(60_000)
    expect(await s.podCount('r')).toBe(2)
    await s.allow(all)
    await s.pass(5000)
    expect([await s.podCount('r'), s.manager.absences()]).toEqual([3, []])
  })
})

describe('a controller that may not write what it decides', () => {
  it('says so once for all objects, fails readiness, and writes within seconds of the grant', async () => {
    const s = await restricted(all)
    await s.manager.start()
    await s.client.create(replicasets, replicaSet('r0'))
    await s.pass(1000)
    await s.allow(all.filter((name) => name !== 'replicasets/status'))
    const names = Array.from({ length: 12 }, (_, i) => `r${i + 1}`)
    for (const name of names) await s.client.create(replicasets, replicaSet(name))
    await s.pass(5000)
    const sentence = 'User "ann" cannot update resource "replicasets/status" in API group "apps"'
    expect(s.manager.problems()).toEqual([`controller replicaset: ${sentence}: 12 objects wait for it`])
    expect(s.metrics.text()).toContain('controller_permission_denied_objects{controller="replicaset",verb="update",group="apps",resource="replicasets/status"} 12')
    const before = s.transport.requests.length
    await s.pass(60_000)
    // Each object every two to four seconds.
    expect(s.transport.requests.length - before).toBeLessThan(12 * 30 + 40)
    expect([s.said('a permission is lacking').length, s.said('failed to reconcile').length]).toEqual([1, 0])

    await s.allow(all)
    await s.pass(5000)
    const stored = (await s.client.list(replicasets, 'default')).items
    expect(stored.filter(({ status }) => status?.replicas === 2)).toHaveLength(13)
    expect(s.manager.problems()).toEqual([])
    expect(s.metrics.text()).not.toContain('controller_permission_denied_objects{')
  }, 20_000)
})

describe('SharedInformer.settled()', () => {
  it('resolves for a kind that is not served, and leaves nobody listening', async () => {
    const { transport, clock } = await scene()
    const informer = new SharedInformer({ transport, clock, random: new SeededRandom(3), type: clonesets })
    onTestFinished(() => informer.stop())
    informer.start()
    await informer.settled(new AbortController().signal)
    expect([informer.hasSynced, informer.absence?.kind]).toEqual([false, 'missing'])
  })
})
