import { describe, expect, it } from 'vitest'
import type { ReplicaSet } from '../../../src/api/generated/types.ts'
import { type ResourceType, clonesets, daemonsets, deployments, jobs, pods, replicasets, replicationcontrollers, statefulsets } from '../../../src/client/index.ts'
import { settled } from '../../../src/cluster/testing.ts'
import { deadlineAnnotation, workloadstatuses } from '../../../src/controllers/index.ts'
import { cloneSetDefinition } from './definitions.ts'
import { StockScene, writesOf } from './stock-scene.ts'
import { daemonSet, deployment, job, replicaSet, replicationController, statefulSet } from './workloads.ts'

const workloads: [string, ResourceType, (name: string) => unknown][] = [
  ['StatefulSet', statefulsets, statefulSet],
  ['DaemonSet', daemonsets, daemonSet],
  ['ReplicaSet', replicasets, replicaSet],
  ['ReplicationController', replicationcontrollers, replicationController],
]

describe('a publisher beside a stock controller manager', { timeout: 20_000 }, () => {
  it.each(workloads)('tells when a %s is available, without a loop, and again after a failure', async (_, type, make) => {
    const s = await StockScene.begin()
    const publisher = await s.publish()
    await s.client.create(type, make('w') as never)
    await s.pass(1000)
    expect(await s.said(type, 'w')).toContain('Available=False MinimumReplicasUnavailable')
    await s.report('w')
    await s.pass(3000)
    expect(await s.said(type, 'w')).toContain('Available=True MinimumReplicasAvailable')
    const before = writesOf(publisher).length
    await s.pass(3_600_000)
    expect(writesOf(publisher)).toHaveLength(before)
    await s.kubelet.report('unready', (await s.podsOf('w')).slice(0, 1))
    await s.pass(3000)
    expect(await s.said(type, 'w')).toContain('Available=False MinimumReplicasUnavailable')
  })

  it('publishes a StatefulSet\'s conditions again after the owner has wiped them, with the same times', async () => {
    const s = await StockScene.begin()
    await s.publish()
    await s.client.create(statefulsets, statefulSet('w'))
    await s.report('w')
    await s.pass(5000)
    const [available] = (await s.conditions(statefulsets, 'w')).filter(({ type }) => type === 'Available')
    expect(available).toMatchObject({ status: 'True', message: '2 of 2 replicas are available.' })
    await s.pass(60_000)
    const { status: { conditions: _, ...numbers }, ...set } = await s.get(statefulsets, 'w')
    const wiped = await s.client.updateStatus(statefulsets, { ...set, status: numbers } as never)
    expect(wiped.status.conditions ?? []).toEqual([])
    await s.pass(1000)
    expect((await s.conditions(statefulsets, 'w')).find(({ type }) => type === 'Available')).toEqual(available)
  })

  it('keeps to an owner that wipes what it publishes each time, ever more slowly', async () => {
    const s = await StockScene.begin()
    const publisher = await s.publish({ kinds: ['statefulsets'], companions: [] })
    await s.client.create(statefulsets, statefulSet('w', 1))
    await s.report('w')
    await s.pass(5000)
    const before = writesOf(publisher).length
    for (let i = 0; i < 200; i++) {
      if ((await s.conditions(statefulsets, 'w')).length > 0) {
        await s.client.patch(statefulsets, 'default', 'w', { status: { conditions: null } } as never, { type: 'merge', subresource: 'status' })
      }
      await s.pass(100)
    }
    expect(writesOf(publisher).length - before).toBeLessThan(12)
  })

  it('leaves the conditions of a Deployment alone', async () => {
    const s = await StockScene.begin()
    const publisher = await s.publish()
    await s.client.create(deployments, deployment('w'))
    await s.report('w')
    await s.pass(5000)
    expect(await s.said(deployments, 'w')).toEqual(['Available=True MinimumReplicasAvailable', 'Progressing=True NewReplicaSetAvailable'])
    expect(writesOf(publisher).filter((write) => write.includes('deployments'))).toEqual([])
  })

  it('says that a Job waits, runs and is finished, and never takes a condition of its owner', async () => {
    const s = await StockScene.begin()
    await s.publish()
    await s.client.create(jobs, job('w'))
    await s.pass(1000)
    expect(await s.said(jobs, 'w')).toEqual(['Running=False NoPodsRunning', 'Waiting=True PodsPending'])
    await s.kubelet.report('ready', await s.podsOf('w'))
    await s.pass(1000)
    expect(await s.said(jobs, 'w')).toEqual(['Running=True PodsRunning', 'Waiting=False PodsRunning'])
    await s.kubelet.report('succeeded', await s.podsOf('w'))
    await s.pass(5000)
    expect(await s.said(jobs, 'w')).toEqual([
      'Complete=True CompletionsReached', 'Running=False JobFinished', 'SuccessCriteriaMet=True CompletionsReached', 'Waiting=False JobFinished',
    ])
  })

  it('leaves a Job alone that was over before it came', async () => {
    const s = await StockScene.begin()
    await s.client.create(jobs, job('w'))
    await s.pass(1000)
    await s.kubelet.report('succeeded', await s.podsOf('w'))
    await s.pass(5000)
    const publisher = await s.publish()
    await s.pass(5000)
    expect(writesOf(publisher)).toEqual([])
  })

  it('leaves conditions to another manager of the same types, and tells them in the companion', async () => {
    const s = await StockScene.begin()
    await s.client.create(daemonsets, daemonSet('w'))
    const theirs = { type: 'Available', status: 'Unknown', reason: 'Theirs', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' }
    await s.client.patch(daemonsets, 'default', 'w', { status: { conditions: [theirs] } } as never, { type: 'merge', subresource: 'status', fieldManager: 'kube-controller-manager' })
    const publisher = await s.publish()
    await s.report('w')
    await s.pass(60_000)
    expect(await s.said(daemonsets, 'w')).toEqual(['Available=Unknown Theirs'])
    expect(await s.said(workloadstatuses, 'w')).toEqual(['Available=True MinimumReplicasAvailable', 'Progressing=True NewRevisionAvailable'])
    const attempts = () => writesOf(publisher).filter((write) => write === 'PATCH daemonsets/w/status').length
    expect(attempts()).toBe(1)
    await s.pass(3_600_000)
    expect([attempts(), publisher.lines.filter((line) => line.includes('another manager')).length]).toEqual([2, 1])
    await s.client.patch(daemonsets, 'default', 'w', { status: { conditions: null } } as never, { type: 'merge', subresource: 'status', fieldManager: 'kube-controller-manager' })
    await s.pass(2000)
    expect(await s.said(daemonsets, 'w')).toEqual(['Available=True MinimumReplicasAvailable', 'Progressing=True NewRevisionAvailable'])
  })

  it('does not publish faster than it may', async () => {
    const s = await StockScene.begin()
    const publisher = await s.publish({ writesPerSecond: 5, kinds: ['replicasets'] })
    for (let i = 0; i < 40; i++) await s.client.create(replicasets, replicaSet(`w${i}`, 0))
    await s.pass(1000)
    expect(writesOf(publisher).length).toBeLessThanOrEqual(11)
    await s.pass(10_000)
    expect(writesOf(publisher).length).toBe(40)
  })
})

describe('progress deadlines by annotation', () => {
  const annotated = (seconds: string) => ({ ...statefulSet('w'), metadata: { ...statefulSet('w').metadata, annotations: { [deadlineAnnotation]: seconds } } })

  it('pass on a cluster without the field, and are over when the rollout goes on', async () => {
    const s = await StockScene.begin()
    await s.publish()
    await s.client.create(statefulsets, annotated('60'))
    await s.pass(50_000)
    expect(await s.said(statefulsets, 'w')).toContain('Progressing=True ReplicasUpdated')
    await s.pass(15_000)
    expect(await s.said(statefulsets, 'w')).toContain('Progressing=False ProgressDeadlineExceeded')
    await s.report('w')
    await s.pass(5000)
    expect(await s.said(statefulsets, 'w')).toContain('Progressing=True NewRevisionAvailable')
  })

  it('outlive the publisher: the companion has the clock', async () => {
    const s = await StockScene.begin()
    const first = await s.publish()
    await s.client.create(statefulsets, annotated('60'))
    await s.pass(40_000)
    await first.stop()
    await s.publish({}, 3)
    await s.pass(25_000)
    expect(await s.said(statefulsets, 'w')).toContain('Progressing=False ProgressDeadlineExceeded')
  })

  it.each(['', '0', '-5', 'soon', '99999999999'])('that are no number of seconds (%j) are none', async (seconds) => {
    const s = await StockScene.begin()
    await s.publish()
    await s.client.create(statefulsets, annotated(seconds))
    await s.pass(3_600_000)
    expect(await s.said(statefulsets, 'w')).toContain('Progressing=True ReplicasUpdated')
  })
})

describe('companions', () => {
  it('have the name of their workload, go with it, and come back when somebody deletes them', async () => {
    const s = await StockScene.begin()
    await s.publish()
    await s.client.create(statefulsets, statefulSet('w'))
    await s.pass(1000)
    await s.client.create(daemonsets, { ...daemonSet('d'), metadata: { name: 'w', namespace: 'default' } } as never)
    await s.pass(5000)
    const all = async () => (await s.client.list(workloadstatuses, 'default')).items.map(({ metadata, spec }) => `${metadata.name}: ${spec.workloadRef.kind}`).sort()
    expect(await all()).toEqual(['w.daemonset: DaemonSet', 'w: StatefulSet'])
    await s.client.delete(workloadstatuses, 'default', 'w')
    await s.pass(1000)
    expect(await all()).toContain('w: StatefulSet')
    await s.client.delete(statefulsets, 'default', 'w')
    await s.pass(60_000)
    expect(await all()).toEqual(['w.daemonset: DaemonSet'])
  })

  it('tell of a CloneSet, whose status is left alone', async () => {
    const s = await StockScene.begin()
    await s.client.transport.send({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: cloneSetDefinition })
    await settled()
    const publisher = await s.publish()
    // It has the fields of a ReplicaSet alone.
    const { metadata, spec } = await s.client.create(clonesets, { ...replicaSet('w'), apiVersion: 'apps.kruise.io/v1alpha1', kind: 'CloneSet' } as never) as unknown as ReplicaSet
    const { metadata: { labels }, spec: podSpec } = spec.template!
    const owner = { apiVersion: 'apps.kruise.io/v1alpha1', kind: 'CloneSet', name: 'w', uid: metadata.uid, controller: true }
    for (const name of ['w-1', 'w-2']) await s.client.create(pods, { metadata: { name, namespace: 'default', labels, ownerReferences: [owner] }, spec: podSpec } as never)
    await s.pass(2000)
    expect(await s.said(workloadstatuses, 'w')).toContain('Available=False MinimumReplicasUnavailable')
    await s.kubelet.report('ready', await s.podsOf('w'))
    await s.pass(2000)
    expect(await s.said(workloadstatuses, 'w')).toContain('Available=True MinimumReplicasAvailable')
    expect((await s.get(workloadstatuses, 'w')).spec.workloadRef).toEqual({ apiVersion: 'apps.kruise.io/v1alpha1', kind: 'CloneSet', name: 'w' })
    expect(writesOf(publisher).filter((write) => write.includes('clonesets'))).toEqual([])
  })

  it('tell of a Deployment where they are asked for', async () => {
    const s = await StockScene.begin()
    const publisher = await s.publish({ companions: ['deployments'] })
    await s.client.create(deployments, deployment('w'))
    await s.report('w')
    await s.pass(5000)
    expect(await s.said(workloadstatuses, 'w')).toEqual(['Available=True MinimumReplicasAvailable', 'Progressing=True NewReplicaSetAvailable'])
    expect((await s.get(workloadstatuses, 'w')).spec.workloadRef).toMatchObject({ kind: 'Deployment', name: 'w' })
    expect(writesOf(publisher).filter((write) => write.includes('deployments'))).toEqual([])
  })

  it('are made when their kind comes, and done without until then', async () => {
    const s = await StockScene.begin({ isDefined: false })
    const { manager } = await s.publish()
    await s.client.create(statefulsets, statefulSet('w'))
    await s.report('w')
    await s.pass(5000)
    expect(await s.said(statefulsets, 'w')).toContain('Available=True MinimumReplicasAvailable')
    expect(manager.absences()).toContain('workloadstatuses.coxswain.dev are not served by the API server')
    expect(manager.problems()).toEqual([])
    await s.define()
    // No workload changes in the meantime.
    await s.pass(10_000)
    expect(await s.said(workloadstatuses, 'w')).toContain('Available=True MinimumReplicasAvailable')
    expect(manager.absences()).not.toContain('workloadstatuses.coxswain.dev are not served by the API server')
    await s.undefine()
    await s.pass(10_000)
    await s.define()
    await s.pass(10_000)
    expect(await s.said(workloadstatuses, 'w')).toContain('Available=True MinimumReplicasAvailable')
  })
})
